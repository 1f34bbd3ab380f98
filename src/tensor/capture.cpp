#include "capture.h"

#include <algorithm>

#include <weft/dev/engine/call_list.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/tensor/recorded.h>
#include <weft/error.h>

#include "batch.h"
#include "state.h"

namespace weft {
namespace {

thread_local Capture* in_force = nullptr;

}  // namespace

Capture::Capture(Reading reading, ValuesBefore* before)
    : reading_(reading), before_(before), first_(Storage::next_number()) {
  in_force = this;
}
Capture::~Capture() { in_force = nullptr; }
Capture* Capture::current() { return in_force; }
Capture* Capture::refusing() {
  return in_force != nullptr && in_force->reading_ == Refused ? in_force : nullptr;
}

void Capture::note(const std::shared_ptr<Storage>& storage) {
  if (is_new(*storage) || !known_.insert(storage.get()).second) return;
  if (reading_ == Refused) run_pending(storage);
  storages.push_back({storage, storage->changes(), storage->is_owned()});
}

namespace {

bool has_pending_assignments(const UOp& version) {
  std::vector<const Node*> open{version.node()};
  for (std::unordered_set<const Node*> seen; !open.empty();) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second || !computed(node).is_null()) continue;
    if (node->op() == Op::After) return true;
    open.insert(open.end(), node->src().begin(), node->src().end());
  }
  return false;
}

}  // namespace

// Later calls must not do again what the program had still to assign.
void Capture::run_pending(const std::shared_ptr<Storage>& storage) {
  const UOp version = storage->present();
  if (!has_pending_assignments(version)) return;
  const CallList::Pause pause;
  Batch({Operand(version, storage->device(), false)}).run();
  storage->settle();
}

bool Capture::is_new(const Storage& storage) const { return storage.number() >= first_; }

bool Capture::holds_old_values(const Storage& storage) const {
  return !is_new(storage) && !assigned_.contains(storage.number());
}

void Capture::keep_before_change(Storage& storage) {
  (is_new(storage) ? changed_ : assigned_).insert(storage.number());
  if (before_ == nullptr || is_new(storage) || before_->contains(storage.number())) return;
  if (are_several(storage.device().get()))
    user_error("the function assigns to a tensor that lies on several devices");
  const Elements held =
      elements_in_memory(Tensor::from(Operand(storage.present(), storage.device(), false)));
  std::vector<std::byte> bytes(held.bytes);
  held.memory->copy_out(bytes, held.offset);
  before_->emplace(storage.number(), std::move(bytes));
}

void Capture::refuse_reading() {
  if (refusing() != nullptr)
    user_error(
        "a function that is given to jit() reads the values of a tensor, which would be those of "
        "this call in "
        "every other: return the tensor, and read it outside");
}

void Capture::own_assigned() const {
  std::vector<std::shared_ptr<Storage>> assigned;
  for (const auto& [storage, changes, was_owned] : storages)
    if (storage->changes() > changes) assigned.push_back(storage);
  Storage::for_each_alive([&](const auto& storage) {
    if (changed_.contains(storage->number())) assigned.push_back(storage);
  });
  std::vector<Operand> versions;
  for (const auto& storage : assigned) {
    storage->own();
    versions.emplace_back(storage->version(), storage->device(), false);
  }
  if (!versions.empty()) Batch(versions).run();
}

bool Capture::has_moved() const {
  return std::ranges::any_of(storages, [](const Noted& noted) {
    return !noted.was_owned && noted.storage->changes() > noted.changes;
  });
}

}  // namespace weft
