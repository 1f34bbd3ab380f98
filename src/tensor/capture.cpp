#include "capture.h"

#include <algorithm>
#include <unordered_map>

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
    : outer_(in_force), reading_(reading), before_(before), first_(Storage::next_number()) {
  in_force = this;
}
Capture::~Capture() { in_force = outer_; }
Capture* Capture::current() { return in_force; }
Capture* Capture::refusing() {
  return in_force != nullptr && in_force->reading_ == Refused ? in_force : nullptr;
}

void Capture::note(const std::shared_ptr<Storage>& storage) {
  if (is_new(*storage) || !known_.insert(storage.get()).second) return;
  if (reading_ == Refused) {
    run_pending(storage);
    storage->settle();
  }
  storages.push_back({storage, storage->present(), storage->changes(), storage->is_owned()});
}

void Capture::note_gradient(const std::shared_ptr<Tensor::State>& leaf,
                            const std::shared_ptr<Tensor::State>& now, bool is_set) {
  if (is_new(*leaf->storage)) return;
  auto known = std::ranges::find_if(gradients, [&](const auto& gradient) {
    return !gradient.leaf.owner_before(leaf) && !leaf.owner_before(gradient.leaf);
  });
  if (known == gradients.end()) {
    gradients.push_back({leaf, {}, false, false});
    known = gradients.end() - 1;
    if (now != nullptr) known->before = now;
  }
  known->is_read = known->is_read || (!is_set && !known->is_set);
  known->is_set = known->is_set || is_set;
}

bool Capture::prepare_to_assign(const std::shared_ptr<Storage>& storage) {
  if (is_new(*storage)) return false;
  if (!storage->is_owned()) {
    storage->own();
    const CallList::Pause pause;
    Batch({Operand(storage->present(), storage->device(), false)}).run();
    storage->settle();
    const auto is_it = [&](const Noted& noted) { return noted.storage == storage; };
    if (const auto noted = std::ranges::find_if(storages, is_it); noted != storages.end())
      *noted = {storage, storage->present(), storage->changes(), true};
  }
  note(storage);
  return true;
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

// Later calls must not do again what the program had still to assign. What is assigned to now and then has memory, where
// later calls find it again.
void Capture::run_pending(const std::shared_ptr<Storage>& storage) {
  const UOp version = storage->present();
  const bool is_assigned_graph = storage->changes() > 0 && buffers_of(version.node()).empty();
  if (!is_assigned_graph && !has_pending_assignments(version)) return;
  const CallList::Pause pause;
  Batch({Operand(version, storage->device(), false)}).run();
}

namespace {

// Whether later calls would find the same values.
class Constancy {
 public:
  Constancy(const CallList& list, const std::vector<Capture::Noted>& held) : list_(list) {
    for (const auto& noted : held) held_.insert(noted.version.node());
  }

  // Those that have been computed, and would not. Sources come before users.
  std::vector<const Node*> inconstant_results(const std::vector<const Node*>& nodes) {
    std::vector<const Node*> results;
    for (const Node* node : nodes) {
      Of& own = of_[node] = of_sources(node);
      const UOp known = computed(node);
      if (known.is_null() || OpSet{Op::Buffer, Op::After}.contains(node->op())) continue;
      if (held_.contains(node)) own = Constant;
      if (own == Constant || is_recorded(known)) continue;
      if (own == Changing) results.push_back(node);
    }
    return results;
  }

 private:
  enum Of : std::uint8_t { Constant, Changing, Lost };

  Of of_sources(const Node* node) const {
    if (node->op() == Op::After) return Changing;
    if (node->op() == Op::Buffer) {
      if (node->arg<BufferArg>().space == Space::Constant) return Constant;
      return shared_graph().attached<Buffer>(node) == nullptr ? Lost : Changing;
    }
    Of most = Constant;
    for (const Node* source : node->src()) most = std::max(most, of_.at(source));
    return most;
  }

  bool is_recorded(const UOp& memory) const {
    return std::ranges::any_of(buffers_of(memory.node()), [&](const Node* buffer) {
      const auto place = list_.place_of(shared_graph().attached<Buffer>(buffer));
      return place && list_.is_written(*place);
    });
  }

  const CallList& list_;
  std::unordered_set<const Node*> held_;
  std::unordered_map<const Node*, Of> of_;
};

}  // namespace

void Capture::forget_results(const std::vector<Operand>& values) const {
  std::vector<const Node*> roots;
  for (const Operand& value : values) roots.push_back(value.uop().node());
  const auto results =
      Constancy(*CallList::recording(), storages).inconstant_results(toposort(roots));
  if (results.empty()) return;
  Storage::for_each_alive([&](const auto& storage) {
    if (!is_new(*storage) && std::ranges::count(results, storage->present().node()) > 0)
      storage->keep_result();
  });
  for (const Node* node : results) shared_graph().attach(node, std::shared_ptr<UOp>());
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
  for (const auto& [storage, version, changes, was_owned] : storages)
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

void Capture::write_back() const {
  for (const auto& [storage, version, changes, was_owned] : storages)
    if (was_owned && !storage->is_owned()) storage->write_to(version);
}

bool Capture::has_moved() const {
  return std::ranges::any_of(storages, [](const Noted& noted) {
    return !noted.was_owned && noted.storage->changes() > noted.changes;
  });
}

}  // namespace weft
