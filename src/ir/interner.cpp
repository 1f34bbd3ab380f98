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
  const std::lock_guard lock(origins_mutex_);
  origins_[node] = origin;
  node->annotated_.store(1, std::memory_order_relaxed);
}

std::optional<Origin> Interner::origin(const Node* node) const {
  if (!node->is_annotated()) return std::nullopt;
  const std::lock_guard lock(origins_mutex_);
  const auto found = origins_.find(node);
  return found == origins_.end() ? std::nullopt : std::optional(found->second);
}

void Interner::forget_origin(const Node* node) {
  const std::lock_guard lock(origins_mutex_);
  origins_.erase(node);
}

void Interner::forget_origins() {
  const std::lock_guard lock(origins_mutex_);
  origins_.clear();
}

}  // namespace weft
