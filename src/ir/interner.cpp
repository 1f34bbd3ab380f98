#include <weft/dev/ir/interner.h>

namespace weft {
namespace {
thread_local Interner* current_interner = nullptr;
}

Interner& Interner::current() {
  return current_interner != nullptr ? *current_interner : shared_graph();
}

InternerScope::InternerScope(Interner& interner) : previous_(current_interner) {
  current_interner = &interner;
}

InternerScope::~InternerScope() { current_interner = previous_; }

void Interner::annotate(const Node* node, const Origin& origin) {
  const std::lock_guard lock(notes_mutex_);
  notes_[node].origin = origin;
  node->annotated_.store(1, std::memory_order_relaxed);
}

// What goes is destroyed outside the lock: it may hold nodes with notes of their own.
void Interner::attach(const Node* node, std::shared_ptr<void> thing) {
  const std::lock_guard lock(notes_mutex_);
  notes_[node].thing.swap(thing);
  node->annotated_.store(1, std::memory_order_relaxed);
}

Interner::Note Interner::note_of(const Node* node) const {
  if (!node->is_annotated()) return {};
  const std::lock_guard lock(notes_mutex_);
  const auto found = notes_.find(node);
  return found == notes_.end() ? Note{} : found->second;
}

std::optional<Origin> Interner::origin(const Node* node) const { return note_of(node).origin; }

std::shared_ptr<void> Interner::attached(const Node* node) const { return note_of(node).thing; }

void Interner::forget_notes(const Node* node) {
  Notes::node_type gone;
  const std::lock_guard lock(notes_mutex_);
  gone = notes_.extract(node);
}

void Interner::forget_all_notes() {
  Notes gone;
  const std::lock_guard lock(notes_mutex_);
  gone.swap(notes_);
}

}  // namespace weft
