#include "filled_alike.h"

#include <algorithm>

#include <weft/dev/ir/memory.h>

#include "loops.h"

namespace weft {
namespace {

std::ptrdiff_t stores_to(const Node* storage, NodeList nodes) {
  return std::ranges::count_if(nodes, [&](const Node* node) {
    return node->op() == Op::Store && storage_of(node->src(0)->src(0)) == storage;
  });
}

}  // namespace

BufferMerger::BufferMerger(NodeList order) : memory_(fresh_id()) {
  for (const Node* node : order)
    if (node->op() == Op::Store) ++stores_[storage_of(node->src(0)->src(0))];
}

UOp BufferMerger::representative_of(const Node* before, const UOp& now) {
  if (!is_filled_here_only(before)) return now;
  const UOp form = canonical_form(now);
  if (const auto* known = first_.find(form.node())) return UOp(*known);
  first_.set(form.node(), now.node());
  return now;
}

bool BufferMerger::is_filled_here_only(const Node* after) const {
  const Node* storage = after->src(0);
  const auto stores = stores_.find(storage);
  return storage->op() == Op::Buffer && stores != stores_.end() &&
         stores_to(storage, toposort(after)) == stores->second;
}

UOp BufferMerger::canonical_form(const UOp& after) {
  const Node* storage = after->src(0);
  Substitution by{{storage, buffer_like(storage, memory_)}};
  for (const Node* node : toposort(after.node())) {
    if (node->op() != Op::Range || changes_with(after.node(), node)) continue;
    const std::size_t number = by.size() - 1;
    if (number == loops_.size()) loops_.push_back(fresh_id().value);
    by.emplace(node, range(UOp(node->src(0)), loops_[number], kind_of(node)));
  }
  return substitute(after, by);
}

}  // namespace weft
