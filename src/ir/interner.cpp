#include <weft/dev/ir/interner.h>

#include <algorithm>

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

void Interner::annotate(const Node* node, Origin origin) {
  const std::lock_guard lock(notes_mutex_);
  notes_[node].origin = origin;
  node->notes_.fetch_or(Node::HasOrigin, std::memory_order_relaxed);
}

void Interner::forget_origins() {
  const std::lock_guard lock(notes_mutex_);
  for (auto& [node, note] : notes_) {
    note.origin.reset();
    node->notes_.fetch_and(Node::HasThings, std::memory_order_relaxed);
  }
}

// What goes is destroyed outside the lock: it may hold nodes with notes of their own.
void Interner::attach(const Node* node, std::type_index type, std::shared_ptr<void> thing) {
  const std::lock_guard lock(notes_mutex_);
  room(node, type).swap(thing);
}

void Interner::make_room(const Node* node, std::type_index type) {
  const std::lock_guard lock(notes_mutex_);
  room(node, type);
}

std::shared_ptr<void>& Interner::room(const Node* node, std::type_index type) {
  auto& things = notes_[node].things;
  node->notes_.fetch_or(Node::HasThings, std::memory_order_relaxed);
  const auto known = std::ranges::find_if(things, [&](const auto& t) { return t.first == type; });
  return known != things.end() ? known->second : things.emplace_back(type, nullptr).second;
}

template <class Read>
auto Interner::from_note(const Node* node, Read read) const {
  using Found = decltype(read(std::declval<const Note&>()));
  if (!node->is_annotated()) return Found{};
  const std::lock_guard lock(notes_mutex_);
  const auto found = notes_.find(node);
  return found == notes_.end() ? Found{} : read(found->second);
}

std::optional<Origin> Interner::origin(const Node* node) const {
  return from_note(node, [](const Note& note) { return note.origin; });
}

std::shared_ptr<void> Interner::attached(const Node* node, std::type_index type) const {
  return from_note(node, [&](const Note& note) {
    for (const auto& [own, thing] : note.things)
      if (own == type) return thing;
    return std::shared_ptr<void>();
  });
}

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
