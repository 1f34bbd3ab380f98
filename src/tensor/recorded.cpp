#include <weft/dev/tensor/recorded.h>

#include <algorithm>

#include <weft/dev/engine/storage.h>
#include <weft/error.h>

#include "batch.h"
#include "capture.h"
#include "in_memory.h"
#include "ops.h"
#include "state.h"

namespace weft {
namespace {

void run_once(const Recorded::Function& function, const std::vector<Tensor>& given) {
  const Capture watch(Capture::Allowed);
  std::vector<Tensor> results = function(given);
  Tensor::realize(results);
  watch.own_assigned();
}

// Over memory that nothing else of the graph stands for.
Tensor own_tensor(const Tensor& given, const std::shared_ptr<Buffer>& memory) {
  const Operand x(given);
  return Tensor::from({new_buffer(x.uop()->dtype(), sizes_of(x.uop()), memory), x.device, false});
}

void check(const Capture& capture) {
  if (!capture.drawings.empty())
    user_error(
        "a function that draws random numbers would draw the same in every call: give it those "
        "as an argument");
  if (std::ranges::any_of(capture.storages, [](const Capture::Noted& noted) {
        return noted.storage->changes() > noted.changes;
      }))
    user_error(
        "the function assigns to a tensor: give it what it was as an argument, and return what it "
        "becomes");
}

}  // namespace

Recorded::Recorded(const Function& function, const std::vector<Tensor>& given) {
  run_once(function, given);
  std::vector<Tensor> own;
  for (const Tensor& tensor : given) {
    const Elements from = elements_in_memory(tensor);
    arguments.push_back(std::make_shared<Buffer>(from.memory, from.offset, from.bytes));
    own.push_back(own_tensor(tensor, arguments.back()));
  }
  const CallList::Recording recording(list);
  const Capture capture(Capture::Refused);
  results = function(own);
  check(capture);
  Tensor::realize(results);
  for (const Tensor& result : results) elements.push_back(elements_in_memory(result));
}

}  // namespace weft
