#include <weft/dev/codegen/slice.h>

#include <weft/dev/ir/memory.h>

#include "loops.h"

namespace weft {

std::vector<const Node*> slice_of(const Node* root, const Node* range) {
  std::vector<const Node*> order;
  NodeMap<bool> seen;
  struct Frame {
    const Node* node;
    std::uint32_t next;
  };
  std::vector<Frame> stack;
  const auto visit = [&](const Node* node) {
    if (changes_with(node, range) && seen.insert(node, true)) stack.push_back({node, 0});
  };
  visit(root);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next < top.node->size()) {
      visit(top.node->src(top.next++));
    } else {
      order.push_back(top.node);
      stack.pop_back();
    }
  }
  return order;
}

namespace {

// Gives a copy its own buffer, if what fills the buffer changes with the range.
void renew_buffer(const Node* after, const Node* changing, Substitution& fresh) {
  const Node* storage = storage_of(after);
  const auto is_filled = [&](const Node* effect) {
    return effect->op() != Op::Range && changes_with(effect, changing);
  };
  if (storage->op() != Op::Buffer || fresh.contains(storage)) return;
  if (std::ranges::none_of(after->src().subspan(1), is_filled)) return;
  fresh.emplace(storage, buffer_like(storage, fresh_id()));
}

}  // namespace

// New ranges of a loop affect nested loops that change with them, though not with `changing`: these
// become other loops, so their ranges are renewed too.
UOp with_fresh_loops(const UOp& root, const Node* changing) {
  Substitution fresh;
  std::vector<const Node*> loops;
  std::vector<std::pair<const Node*, const Node*>> open{{root.node(), changing}};
  while (!open.empty()) {
    const auto [body, changed] = open.back();
    open.pop_back();
    for (const Node* node : slice_of(body, changed)) {
      if (node->op() == Op::After) renew_buffer(node, changed, fresh);
      if (!OpSet{Op::Reduce, Op::End}.contains(node->op())) continue;
      for (const Node* old : node->src().subspan(1)) {
        if (fresh.contains(old)) continue;
        fresh.emplace(old, range_like(old));
        loops.push_back(old);
        open.emplace_back(node->src(0), old);
      }
    }
  }
  for (const Node* old : toposort(loops))  // a loop's size may depend on another loop
    if (const auto own = fresh.find(old); own != fresh.end() && old->op() == Op::Range)
      own->second = with_sources(own->second, {substitute(UOp(old->src(0)), fresh)});
  return substitute(root, fresh);
}

namespace {

// Gives loops whose size depends on the range their size at `place`.
void resize_loops(NodeList loops, const Node* range, const UOp& place, Substitution& resized) {
  for (const Node* loop : loops)
    if (loop->op() == Op::Range && changes_with(loop->src(0), range))
      resized.emplace(loop,
                      with_sources(UOp(loop), {substitute(UOp(loop->src(0)), {{range, place}})}));
}

}  // namespace

// An AFTER or BARRIER of the range becomes one of the loops in `place`. If there are none, an AFTER
// of the range alone becomes its memory.
UOp with_range_replaced(const UOp& body, const Node* range, const UOp& place, const UOp& valid) {
  NodeMap<const Node*> made;
  Substitution resized;
  const auto now = [&](const Node* node) {
    const Node* const* known = made.find(node);
    return UOp(known != nullptr ? *known : node);
  };
  for (const Node* node : slice_of(body.node(), range)) {
    if (node == range) {
      made.set(node, place.node());
      continue;
    }
    if (OpSet{Op::End, Op::Reduce}.contains(node->op()))
      resize_loops(node->src().subspan(1), range, place, resized);
    std::vector<UOp> src;
    for (const Node* source : node->src()) {
      if (OpSet{Op::After, Op::Barrier}.contains(node->op()) && source == range)
        for (const Node* iteration : place->ranges()) src.emplace_back(iteration);
      else
        src.push_back(now(source));
    }
    if (node->op() == Op::Index && !valid->is_const_int(1)) src[1] = src[1] & valid;
    const bool is_only_memory = node->op() == Op::After && src.size() == 1;
    made.set(node, is_only_memory ? src[0].node() : with_sources(UOp(node), src).node());
  }
  return resized.empty() ? now(body.node()) : substitute(now(body.node()), resized);
}

}  // namespace weft
