#include "captured.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <weft/dev/device/host_memory.h>
#include <weft/dev/engine/lineage.h>
#include <weft/dev/engine/realize.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/tensor/recorded.h>
#include <weft/error.h>

#include "batch.h"
#include "draws.h"
#include "ops.h"
#include "state.h"

namespace weft {

std::shared_ptr<Buffer> memory_in_order(const Tensor& tensor) {
  const Elements in = elements_in_memory(tensor);
  if (in.offset == 0 && in.memory->bytes() == in.bytes) return in.memory;
  return std::make_shared<Buffer>(in.memory, in.offset, in.bytes);
}

std::vector<std::shared_ptr<Buffer>> memory_below(const UOp& version) {
  const UOp known = computed(version.node());
  std::vector<std::shared_ptr<Buffer>> memory;
  for (const Node* buffer : buffers_of(known.is_null() ? version.node() : known.node()))
    memory.push_back(shared_graph().attached<Buffer>(buffer));
  return memory;
}

namespace {

bool looks_at(const UOp& graph, OpSet ops) {
  const Node* node = graph.node();
  while (info(node->op()).cls == OpClass::Movement || node->op() == Op::Detach) node = node->src(0);
  return ops.contains(node->op());
}

// Whether calls fill it anew, unlike values that were there when the function was captured.
bool is_made_by(const CallList& list, const UOp& graph) {
  return std::ranges::all_of(memory_below(graph), [&](const auto& memory) {
    const auto place = list.place_of(memory);
    return place && list.is_written(*place);
  });
}

}  // namespace

Replay::Captured::Captured(const JitArguments& arguments, const Body& body)
    : forms_(arguments), sizes_(arguments.sizes) {
  JitResults returned = recorded(arguments, body);
  form_ = std::move(returned.form);
  find_results(std::move(returned.tensors));
  settle();
  is_pure_ = finds_pure();
}

Replay::Captured::Captured(const Captured& of, CallList list)
    : forms_(of.forms_),
      sizes_(of.sizes_),
      captured_sizes_(of.captured_sizes_),
      list_(std::move(list)),
      arguments_(of.arguments_),
      known_(of.known_),
      results_(of.results_),
      form_(of.form_),
      is_pure_(of.is_pure_) {}

void Replay::Captured::copy_what_shares(std::vector<Tensor>& returned, std::uint64_t first_new,
                                        const CallList* list) {
  std::unordered_set<const Storage*> seen;
  for (Tensor& tensor : returned) {
    const auto& storage = storage_behind(tensor);
    if (storage->number() < first_new) continue;
    const UOp graph = tensor.uop();
    const bool is_view =
        !storage->is_owned() && looks_at(graph, {Op::Buffer, Op::Multi, Op::After});
    const bool is_the_same =
        list != nullptr && looks_at(graph, {Op::Buffer, Op::Multi}) && !is_made_by(*list, graph);
    if (!seen.insert(storage.get()).second || is_view || is_the_same) tensor = tensor.clone();
  }
}

const std::shared_ptr<Storage>& Replay::Captured::storage_behind(const Tensor& tensor) {
  return tensor.state_->storage;
}

bool Replay::Captured::is_held_once(const Tensor& tensor) {
  const std::lock_guard lock(Storage::counting());
  return tensor.state_.use_count() == 1 && storage_behind(tensor).use_count() == 1;
}

// Each argument is a tensor of its own, over the memory of the one that is given.
JitResults Replay::Captured::recorded(const JitArguments& arguments, const Body& body) {
  std::vector<std::shared_ptr<Buffer>> memory;
  std::vector<Tensor> given;
  for (const auto& [name, tensor] : arguments.tensors) {
    const auto whole = memory_in_order(tensor);
    memory.push_back(std::make_shared<Buffer>(whole, 0, whole->bytes()));
    const Operand x(tensor);
    given.push_back(Tensor::from(
        {new_buffer(x.uop()->dtype(), sizes_of(x.uop()), memory.back()), x.device, false}));
  }
  JitResults results;
  std::vector<Tensor>& returned = results.tensors;
  const std::uint64_t first_new = Storage::next_number();
  trim_host_memory();  // what ran without a list had blocks of other sizes
  {
    const CallList::Recording recording(list_);
    Capture capture(Capture::Refused);
    results = body(given);
    for (std::size_t i = 0; i < given.size(); ++i)
      if (storage_behind(given[i])->changes() > 0)
        user_error(fmt::format(
            "jit: the function assigns to {}: let it assign to a tensor that it captures",
            arguments.tensors[i].first));
    if (capture.has_moved())
      user_error(
          "jit: the function assigns to a tensor in this call that it did not assign to in the "
          "first, when it had no memory of its own: realize() it before");
    capture.write_back();
    copy_what_shares(returned, first_new, &list_);
    std::vector<Operand> open;
    for (Tensor& tensor : returned) {
      for (const auto& part : memory_below(tensor.uop()))  // an argument comes back as a copy
        if (std::ranges::find(memory, part) != memory.end()) tensor = tensor.contiguous();
      open.emplace_back(tensor);
    }
    for (const auto& noted : capture.storages)
      if (const UOp now = noted.storage->version(); now->op() == Op::After)
        open.emplace_back(now, noted.storage->device(), false);
    find_gradients(capture, first_new);
    for (const Gradient& gradient : gradients_)
      if (!gradient.after.is_null()) open.emplace_back(gradient.after);
    Batch(open).run();
    for (const auto& noted : capture.storages) noted.storage->settle();
    drawings_ = capture.drawings;
    find_known(capture, returned);
  }
  for (std::size_t i = 0; i < memory.size(); ++i) {
    arguments_.push_back(list_.place_of(memory[i]));
    if (arguments_[i]) argument({arguments.tensors[i].first, given[i]});
  }
  return results;
}

// Each call computes those that it sets, into memory that it writes.
void Replay::Captured::find_gradients(const Capture& capture, std::uint64_t first_new) {
  for (const Capture::Gradient& gradient : capture.gradients) {
    const auto leaf = gradient.leaf.lock();
    if (leaf == nullptr) continue;
    Tensor after = gradient.is_set ? leaf->grad : Tensor();
    if (!after.is_null() && storage_behind(after)->number() >= first_new) {
      if (looks_at(after.uop(), {Op::Buffer, Op::Multi}) && !is_made_by(list_, after.uop()))
        after = after.detach().clone();
      storage_behind(after)->give_to_calls();
    }
    gradients_.push_back({gradient, std::move(after)});
  }
  set_gradients();
}

// Of tensors that were there before, and of what the function computed and something still holds.
void Replay::Captured::find_known(const Capture& capture, const std::vector<Tensor>& returned) {
  std::unordered_set<const Storage*> seen;  // first those that only a result holds
  for (const Tensor& tensor : returned)
    if (is_held_once(tensor)) seen.insert(storage_behind(tensor).get());
  const auto add = [&](const std::shared_ptr<Storage>& storage, bool was_looked_at) {
    if (!seen.insert(storage.get()).second) return;
    Known known{storage, {}, storage->changes(), false};
    bool is_used = false;
    for (const auto& memory : memory_below(storage->present())) {
      const auto place = list_.place_of(memory);
      known.places.push_back(place);
      is_used = is_used || place;
      known.is_written = known.is_written || (place && list_.is_written(*place));
    }
    if (known.is_written) storage->rest();
    const bool was_graph = was_looked_at && known.places.empty();
    if ((is_used && (was_looked_at || known.is_written)) || was_graph)
      known_.push_back(std::move(known));
  };
  for (const auto& noted : capture.storages) add(noted.storage, true);
  Storage::for_each_alive([&](const auto& storage) { add(storage, false); });
}

void Replay::Captured::find_results(std::vector<Tensor> returned) {
  for (Tensor& tensor : returned) results_.push_back(result_of(std::move(tensor)));
  tell_of_overwriting();
}

// Of each BUFFER nobody but the graph and the list has the memory.
bool Replay::Captured::is_remade(const Known& known) const {
  return known.is_written && std::ranges::all_of(known.places, [&](const auto& place) {
           return place && list_.is_remade(*place) && list_.memory(*place).use_count() == 2;
         });
}

void Replay::Captured::settle() {
  std::vector<Place> held;
  for (Known& known : known_) {
    if (!is_remade(known)) continue;
    for (const auto& place : known.places)
      if (place) known.in_block.push_back(*place);
    held.insert(held.end(), known.in_block.begin(), known.in_block.end());
  }
  list_.settle(held);
  for (Known& known : known_) {
    if (known.in_block.empty()) continue;
    std::vector<std::shared_ptr<Buffer>> memory;
    for (Place place : known.in_block) memory.push_back(list_.memory(place));
    known.storage->move(memory);
    known.changes = known.storage->changes();
  }
}

auto Replay::Captured::result_of(Tensor&& tensor) const -> Result {
  const auto is_known = [&](Place place) {
    return std::ranges::any_of(known_, [&](const Known& known) {
      return std::ranges::find(known.places, place) != known.places.end();
    });
  };
  const UOp graph = tensor.uop();
  const Symbol device = Operand(tensor).device;
  const UOp known = computed_for(graph.node(), device);
  Result result{{}, known.is_null() ? graph : known, device, {}};
  Substitution stand_ins;
  bool is_new = is_held_once(tensor);
  for (const Node* buffer : buffers_of(result.view.node())) {
    const auto place = list_.place_of(memory_of(buffer));
    is_new = is_new && place && list_.is_written(*place) && !is_known(*place);
    if (!is_new) break;
    const UOp stand_in = new_buffer(buffer->dtype(), sizes_of(UOp(buffer)), memory_of(buffer));
    lose_memory(stand_in.node());
    stand_ins.emplace(buffer, stand_in);
    result.parts.push_back({stand_in, *place, {list_.memory(*place)}});
  }
  if (!is_new) return {std::move(tensor), {}, {}, {}};
  result.view = substitute(result.view, stand_ins);
  return result;
}

}  // namespace weft
