#include "captured.h"

#include <algorithm>
#include <atomic>
#include <exception>
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
namespace {

// A tensor's memory, in order and in one piece; it is computed and put there if need be.
std::shared_ptr<Buffer> memory_in_order(const Tensor& tensor) {
  const Elements in = elements_in_memory(tensor);
  if (in.offset == 0 && in.memory->bytes() == in.bytes) return in.memory;
  return std::make_shared<Buffer>(in.memory, in.offset, in.bytes);
}

// None of what is still to be computed.
std::vector<std::shared_ptr<Buffer>> memory_below(const UOp& version) {
  const UOp known = computed(version.node());
  std::vector<std::shared_ptr<Buffer>> memory;
  for (const Node* buffer : buffers_of(known.is_null() ? version.node() : known.node()))
    memory.push_back(shared_graph().attached<Buffer>(buffer));
  return memory;
}

bool overlap(const Argument& a, const Argument& b) {
  const auto begin = [](const Argument& part) {
    return reinterpret_cast<std::uintptr_t>(part.memory) + part.offset;
  };
  return begin(a) < begin(b) + b.bytes && begin(b) < begin(a) + a.bytes;
}

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

std::unique_ptr<Replay::Captured> Replay::Captured::another() const {
  std::unique_ptr<Captured> other(new Captured(*this, list_.another()));
  for (const Place place : list_.written_outside_of_blocks()) {
    const Buffer& memory = *list_.memory(place);
    other->list_.put(place, std::make_shared<Buffer>(memory.device(), memory.bytes()));
  }
  for (Result& result : other->results_)
    for (Result::Part& part : result.parts) {
      part.memory.clear();
      other->list_.put(part.place, other->free_memory(part));
    }
  return other;
}

Replay::Captured::~Captured() {
  for (const Known& known : known_)
    if (known.storage.use_count() > 1 && lies_in_block(known)) try {
        move_out(known);
      } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
        // There is no memory to move to: the block stays as long as what lies in it.
      }
}

bool Replay::Captured::is_stale() const {
  return std::ranges::any_of(
      known_, [](const Known& known) { return known.storage->changes() != known.changes; });
}

bool Replay::Captured::finds_pure() const {
  const auto is_remade = [&](Place place) { return list_.is_remade(place); };
  return drawings_.empty() && !list_.keeps_what_changes() &&
         std::ranges::none_of(known_, &Known::is_written) &&
         std::ranges::all_of(list_.written_outside_of_blocks(), is_remade);
}

JitResults Replay::Captured::call(const JitArguments& arguments) {
  forms_.want(arguments);
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    if (const auto& place = arguments_[i]) list_.put(*place, argument(arguments.tensors[i]));
  bind(arguments.sizes);
  if (!is_pure_) refresh();
  for (Result& result : results_)
    for (Result::Part& part : result.parts) list_.put(part.place, free_memory(part));
  for (const Drawing& drawing : drawings_) draw_again(drawing);
  tell_of_overwriting();  // before it happens: afterwards there may be no memory for that
  list_.run();
  return results();
}

JitResults Replay::Captured::results() const {
  std::vector<Tensor> tensors;
  for (const Result& result : results_) {
    Substitution now;
    for (const Result::Part& part : result.parts)
      now.emplace(part.buffer.node(), new_buffer(part.buffer->dtype(), sizes_of(part.buffer),
                                                 list_.memory(part.place)));
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      now.emplace(captured_sizes_[i].node(), sizes_[i]);
    tensors.push_back(result.tensor.is_null()
                          ? Tensor::from({substitute(result.view, now), result.device, false})
                          : result.tensor);
  }
  return {std::move(tensors), form_};
}

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
    copy_what_shares(returned, first_new, &list_);
    std::vector<Operand> open;
    for (Tensor& tensor : returned) {
      for (const auto& part : memory_below(tensor.uop()))  // an argument comes back as a copy
        if (std::ranges::find(memory, part) != memory.end()) tensor = tensor.contiguous();
      open.emplace_back(tensor);
    }
    for (const auto& [storage, changes, was_owned] : capture.storages)
      if (const UOp version = storage->version(); version->op() == Op::After)
        open.emplace_back(version, storage->device(), false);
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

// Unless it has been assigned to since, and then perhaps got other memory.
bool Replay::Captured::lies_in_block(const Known& known) const {
  const auto memory = memory_below(known.storage->present());
  const auto is_at = [&](const auto& own, Place place) { return own == list_.memory(place); };
  return !known.in_block.empty() && std::ranges::equal(memory, known.in_block, is_at);
}

void Replay::Captured::move_out(const Known& known) {
  std::vector<std::shared_ptr<Buffer>> own;
  for (const auto& memory : memory_below(known.storage->present())) {
    own.push_back(std::make_shared<Buffer>(memory->device(), memory->bytes()));
    own.back()->copy_from(*memory);
  }
  known.storage->move(own);
}

void Replay::Captured::tell_of_overwriting() const {
  Substitution renewed;
  for (const Known& known : known_)
    if (known.is_written) known.storage->overwritten(renewed);
  if (renewed.empty()) return;
  std::vector<Loss> losses;
  for (const auto& [buffer, now] : renewed) losses.emplace_back(UOp(buffer));
  std::vector<std::pair<Storage*, UOp>> versions;
  for (const Known& known : known_)
    if (known.is_written) versions.emplace_back(known.storage.get(), known.storage->along(renewed));
  for (const Loss& loss : losses) loss.happen();  // nothing asks for memory from here on
  for (auto& [storage, version] : versions) storage->overwrite(std::move(version));
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

// What calls write is no argument: they take arguments for what nobody writes.
std::shared_ptr<Buffer> Replay::Captured::argument(const NamedTensor& given) const {
  auto memory = memory_in_order(given.second);
  for (const Known& known : known_)
    for (const auto& place : known.places)
      if (known.is_written && place &&
          overlap(memory->argument(), list_.memory(*place)->argument()))
        user_error(
            fmt::format("jit: {} lies in memory that the function assigns to: give it a copy, or "
                        "let the function capture it",
                        given.first));
  return memory;
}

void Replay::Captured::bind(const std::vector<UOp>& sizes) {
  for (const UOp& size : sizes) {
    const auto& variable = size->src(0)->arg<VariableArg>();
    const Node* value = size->src(1);
    if (!value->is_const() || value->lo() < variable.lo || value->lo() > variable.hi)
      user_error(fmt::format("jit: variable {} is bound to {}, outside {} ... {}",
                             variable.name.get(), expression_text(value), variable.lo,
                             variable.hi));
    list_.set_variable(variable.id.value, value->lo());
  }
  sizes_ = sizes;
}

// Tensors that were assigned to since the last call, and those that are made of what this one overwrites.
void Replay::Captured::refresh() {
  std::vector<std::shared_ptr<Buffer>> overwritten;
  std::vector<std::shared_ptr<Storage>> followers;
  for (Known& known : known_) {
    if (known.storage->changes() != known.changes) find_again(known);
    if (!known.is_written) continue;
    followers.push_back(known.storage);
    if (!known.storage->is_looked_at()) continue;
    for (const auto& place : known.places)
      if (place) overwritten.push_back(list_.memory(*place));
  }
  if (!overwritten.empty()) Batch::before_overwriting(overwritten, followers).run();
  is_pure_ = is_pure_ && finds_pure();  // it may keep something of a constant that changes now
}

void Replay::Captured::find_again(Known& known) {
  const UOp version = known.storage->version();
  if (known.places.empty())
    user_error(
        fmt::format("jit: a tensor of shape {} that the function uses was in no memory when it was "
                    "captured, and has been assigned to since: realize() it before",
                    shape_text(version)));
  Batch(std::vector{Operand(version, known.storage->device(), false)}).run();
  known.storage->settle();
  const auto memory = memory_below(known.storage->present());
  if (memory.size() != known.places.size())
    user_error(fmt::format(
        "jit: a tensor of shape {} that the function uses does not lie in one piece any more",
        shape_text(version)));
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (const auto& place = known.places[i]) list_.put(*place, memory[i]);
  known.changes = known.storage->changes();
}

// Of earlier calls, where nobody holds the result any more.
std::shared_ptr<Buffer> Replay::Captured::free_memory(Result::Part& part) const {
  constexpr std::size_t most_spare = 2;
  const std::shared_ptr<Buffer>& last = list_.memory(part.place);
  for (const auto& memory : part.memory)
    if (memory.use_count() == (memory == last ? 2 : 1)) {
      std::atomic_thread_fence(std::memory_order_acquire);  // after what others read of it
      memory->count_overwriting();
      return memory;
    }
  if (part.memory.size() > most_spare) part.memory.erase(part.memory.begin());
  part.memory.push_back(std::make_shared<Buffer>(last->device(), last->bytes()));
  return part.memory.back();
}

}  // namespace weft
