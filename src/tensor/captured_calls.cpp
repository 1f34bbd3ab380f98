// The calls after the one that was captured: what they look at first, and what they give.

#include <algorithm>
#include <atomic>
#include <exception>

#include <fmt/format.h>
#include <weft/dev/engine/lineage.h>
#include <weft/dev/engine/storage.h>
#include <weft/error.h>

#include "batch.h"
#include "captured.h"
#include "draws.h"
#include "ops.h"
#include "state.h"

namespace weft {
namespace {

bool overlap(const Argument& a, const Argument& b) {
  const auto begin = [](const Argument& part) {
    return reinterpret_cast<std::uintptr_t>(part.memory) + part.offset;
  };
  return begin(a) < begin(b) + b.bytes && begin(b) < begin(a) + a.bytes;
}

}  // namespace

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
  gradients_.clear();
  for (const Known& known : known_)
    if (known.storage.use_count() > 1 && lies_in_block(known)) try {
        move_out(known);
      } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
        // There is no memory to move to: the block stays as long as what lies in it.
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
  set_gradients();
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

bool Replay::Captured::is_stale() const {
  return std::ranges::any_of(
      known_, [](const Known& known) { return known.storage->changes() != known.changes; });
}

bool Replay::Captured::finds_gradients() const {
  return std::ranges::all_of(gradients_, [](const Gradient& gradient) {
    const auto leaf = gradient.of.leaf.lock();
    if (leaf == nullptr || !gradient.of.is_read) return true;
    const std::lock_guard lock(leaf->mutex);
    const auto& before = gradient.of.before;
    return leaf->grad.state_ == (before ? before->lock() : nullptr) &&
           leaf->grad.is_null() == !before;
  });
}

bool Replay::Captured::is_outdated() const {
  const auto shares = [&](const Known& known, const Known& other) {
    return other.storage != known.storage &&
           std::ranges::any_of(known.places, [&](const auto& place) {
             return place && std::ranges::count(other.places, place) > 0;
           });
  };
  return std::ranges::any_of(known_, [&](const Known& known) {
    const bool has_changed = known.storage->changes() != known.changes;
    if (known.places.empty())
      return has_changed || !computed(known.storage->present().node()).is_null();
    return has_changed &&
           std::ranges::any_of(known_, [&](const Known& other) { return shares(known, other); });
  });
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

void Replay::Captured::set_gradients() const {
  for (const auto& [of, after] : gradients_) {
    const auto leaf = of.leaf.lock();
    if (leaf == nullptr || !of.is_set) continue;
    const std::lock_guard lock(leaf->mutex);
    leaf->grad = after;
  }
}

bool Replay::Captured::finds_pure() const {
  const auto is_remade = [&](Place place) { return list_.is_remade(place); };
  return drawings_.empty() && gradients_.empty() && !list_.keeps_what_changes() &&
         std::ranges::none_of(known_, &Known::is_written) &&
         std::ranges::all_of(list_.written_outside_of_blocks(), is_remade);
}

}  // namespace weft
