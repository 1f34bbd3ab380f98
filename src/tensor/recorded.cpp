#include <weft/dev/tensor/recorded.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include <fmt/format.h>
#include <weft/dev/engine/realize.h>
#include <weft/dev/engine/storage.h>
#include <weft/error.h>

#include "batch.h"
#include "capture.h"
#include "ops.h"
#include "state.h"

namespace weft {
namespace {

// Over memory that nothing else of the graph stands for.
Tensor own_tensor(const Tensor& given, const std::shared_ptr<Buffer>& memory) {
  const Operand x(given);
  return Tensor::from({new_buffer(x.uop()->dtype(), sizes_of(x.uop()), memory), x.device, false});
}

std::vector<std::shared_ptr<Storage>> assigned_to(const Capture& capture) {
  std::vector<std::shared_ptr<Storage>> storages;
  for (const auto& [storage, version, changes, was_owned] : capture.storages)
    if (storage->changes() > changes) storages.push_back(storage);
  return storages;
}

// Arguments are the storages from `first_argument` on.
void check(const Capture& capture, std::uint64_t first_argument) {
  if (!capture.drawings.empty())
    user_error(
        "a function that draws random numbers would draw the same in every call: give it those "
        "as an argument");
  for (const auto& storage : assigned_to(capture))
    if (storage->number() >= first_argument)
      user_error("the function assigns to an argument: let it assign to a tensor that it captures");
  if (capture.has_moved())
    user_error(
        "the function assigns to a tensor that had no memory of its own in the call before: "
        "realize() it first");
}

// With what the function assigned to.
void realize(const std::vector<Tensor>& results,
             const std::vector<std::shared_ptr<Storage>>& assigned) {
  std::vector<Operand> open;
  for (const Tensor& result : results) open.emplace_back(result);
  for (const auto& storage : assigned)
    if (const UOp version = storage->version(); version->op() == Op::After)
      open.emplace_back(version, storage->device(), false);
  if (!open.empty()) Batch(open).run();
  for (const auto& storage : assigned) storage->rest();
}

Assigned assigned_memory(Storage& storage, const FirstRuns::Before& before) {
  const UOp present = storage.present();
  const std::vector<const Node*> buffers = buffers_of(present.node());
  const auto held = before.find(storage.number());
  if (held == before.end())
    user_error("the function assigns to a tensor that it did not assign to in its first call");
  if (buffers.size() != 1) internal_error("what was assigned to has no memory");
  Assigned assigned{memory_of(buffers[0]), present->dtype(), {}, held->second};
  if (assigned.memory->bytes() != assigned.before.size())
    internal_error("what was assigned to has memory of another size");
  for (const Node* size : buffers[0]->dims()) assigned.shape.push_back(size->bounds().hi);
  return assigned;
}

}  // namespace

void FirstRuns::run(const RecordedFunction& function, const std::vector<Tensor>& given) {
  const Capture watch(Capture::Allowed, &before_);
  std::vector<Tensor> results = function(given);
  Tensor::realize(results);
  watch.own_assigned();
}

FirstRuns::~FirstRuns() {
  try {
    std::vector<std::shared_ptr<Storage>> assigned;
    Storage::for_each_alive([&](const auto& storage) {
      if (before_.contains(storage->number())) assigned.push_back(storage);
    });
    for (const auto& storage : assigned) storage->put_back(before_.at(storage->number()));
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft: what was assigned to is not put back: {}\n", error.what());
  }
}

Recorded::Recorded(const RecordedFunction& function, const std::vector<Tensor>& given,
                   const FirstRuns& first) {
  const std::uint64_t first_argument = Storage::next_number();
  std::vector<Tensor> own;
  for (const Tensor& tensor : given) {
    const Elements from = elements_in_memory(tensor);
    arguments.push_back(std::make_shared<Buffer>(from.memory, from.offset, from.bytes));
    own.push_back(own_tensor(tensor, arguments.back()));
  }
  const CallList::Recording recording(list);
  const Capture capture(Capture::Refused);
  results = function(own);
  check(capture, first_argument);
  capture.write_back();
  const auto storages = assigned_to(capture);
  realize(results, storages);
  for (const Tensor& result : results) elements.push_back(elements_in_memory(result));
  for (const auto& storage : storages)
    assigned.push_back(assigned_memory(*storage, first.before()));
}

Tensor tensor_of_sizes(const std::vector<Dim>& sizes, const std::string& device) {
  std::vector<Tensor> elements;
  for (const Dim& size : sizes)
    elements.push_back(
        Tensor::from(Operand(size.uop(), Symbol(), false)).cast(dtypes::i64).to(device));
  return Tensor::stack(elements);
}

}  // namespace weft
