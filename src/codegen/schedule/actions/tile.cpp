// TILE, PAD, MERGE, SPLIT_PARALLEL and KIND.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/codegen/accumulator.h>

#include "common/loops.h"
#include "fills.h"
#include "kernel_loops.h"
#include "stores.h"

namespace weft {
namespace {

// Returns the closer over ranges `now` in place of `range`.
UOp with_loop_replaced(const Node* closer, const UOp& body, const Node* range,
                       const std::vector<UOp>& now) {
  std::vector<UOp> loops = list_of(closer->src().subspan(1));
  const auto at = loops.erase(std::ranges::find(loops, range, &UOp::node));
  loops.insert(at, now.begin(), now.end());
  return closed_over(UOp(closer), body, loops);
}

// Returns the iterations from `first` on, in loops of their own.
UOp remainder_of(const Node* closer, const Node* range, std::int64_t first) {
  const UOp last = range_like(range, range->src(0)->lo() - first);
  UOp body = with_range_replaced(with_fresh_loops(UOp(closer->src(0)), range), range, last + first);
  std::vector<UOp> loops;
  for (const Node* other : closer->src().subspan(1)) {
    loops.push_back(other == range ? last : range_like(other));
    if (other != range)
      body = with_range_replaced(with_fresh_loops(body, other), other, loops.back());
  }
  return closed_over(UOp(closer), body, loops);
}

void check_tile(const Action& action, const Node* range, const Node* closer) {
  if (!is_plain_loop(range)) refuse(action, "it is not a plain loop");
  if (closer->src(0)->op() == Op::Tuple && closer->op() == Op::Reduce)
    refuse(action, "it reduces a tuple");
  if (!range->src(0)->is_const()) refuse(action, "its size is not a constant");
  if (action.count < 1) refuse(action, "a tile has at least one iteration");
  const std::int64_t iterations = range->src(0)->lo();
  if (action.count > iterations && action.tail != Tail::Mask)
    refuse(action, fmt::format("it has only {} iterations", iterations));
  if (iterations % action.count == 0) return;
  if (action.tail == Tail::None)
    refuse(
        action,
        fmt::format("{} iterations are not a multiple of it; add a tail: mask, remainder or shift",
                    iterations));
  const auto is_fixed = [&](const Node* store) {
    return store->op() != Op::Store || !changes_with(store->src(0), range);
  };
  if (action.tail == Tail::Mask && closer->op() == Op::End &&
      std::ranges::any_of(stores_of(closer), is_fixed))
    refuse(action, "all its iterations store to the same element");
  if (action.tail == Tail::Shift && (closer->op() != Op::End || !may_store_twice(closer)))
    refuse(action, "shift computes some elements twice, which may change the result");
}

}  // namespace

// Names the loops that a loop is split into.
void KernelLoops::add_inner(const std::string& name, const UOp& outer, const UOp& inner) {
  const std::string family = name.substr(0, name.find('.'));
  add_loop(find_loop(loop(name)) + 1, free_name(family + ".", 1), inner);
  loops_[name] = outer;
}

// Extends the loop to a multiple of `count`. The added iterations read and write nothing, and a
// reduction ignores them.
void KernelLoops::pad_to(const std::string& name, std::int64_t count) {
  const Node *range = loop(name), *closer = closer_of(range);
  const std::int64_t iterations = range->src(0)->lo(), left = iterations % count;
  if (left == 0) return;
  const UOp now = range_like(range, iterations - left + count), valid = now < iterations;
  UOp body = with_range_replaced(UOp(closer->src(0)), range, now, valid);
  if (closer->op() == Op::Reduce)
    body = where(valid, body, identity_of(closer->arg<ReduceArg>().op, body->dtype()));
  replace(closer, with_loop_replaced(closer, body, range, {now}));
  substitute_in_bounds(range, now);
  loops_[name] = now;
}

// Refuses a loop that carries memory: its iterations have to run in order.
void KernelLoops::refuse_if_carrying(const Action& action, const std::string& name) const {
  if (carrying_.contains(name))
    refuse(action, "the loop carries memory from one iteration to the next");
}

void KernelLoops::pad(const Action& action) {
  refuse_if_carrying(action, action.name);
  check_tile(action, loop(action.name), closer_of(loop(action.name)));
  pad_to(action.name, action.count);
}

void KernelLoops::tile(const Action& action) {
  refuse_if_carrying(action, action.name);
  check_tile(action, loop(action.name), closer_of(loop(action.name)));
  if (action.tail == Tail::Mask) pad_to(action.name, action.count);
  const Node *range = loop(action.name), *closer = closer_of(range);
  const std::int64_t iterations = range->src(0)->lo(), count = action.count,
                     left = iterations % count;
  const bool shifts = left != 0 && action.tail == Tail::Shift;
  const UOp outer = range_like(range, iterations / count + (shifts ? 1 : 0)),
            inner = range_like(range, count), first = outer * count;
  const UOp place = (shifts ? min(first, const_int(iterations - count)) : first) + inner;
  const UOp body = with_range_replaced(UOp(closer->src(0)), range, place);
  UOp result = with_loop_replaced(closer, body, range, {outer, inner});
  if (left != 0 && action.tail == Tail::Remainder) {
    const UOp rest = remainder_of(closer, range, iterations - left);
    result = closer->op() == Op::End ? tuple({result, rest})
                                     : make(closer->arg<ReduceArg>().op, {result, rest});
  }
  replace(closer, result);
  substitute_in_bounds(range, place);
  add_inner(action.name, outer, inner);
}

// Iteration n of the merged loop is iteration n / size of the outer loop and n % size of the inner
// one, where `size` is the size of the inner loop.
void KernelLoops::merge(const Action& action) {
  const std::string &name = action.loops[0], &within = action.loops[1];
  const Node *outer = loop(name), *inner = loop(within), *closer = closer_of(outer);
  for (const std::string& each : action.loops) {
    refuse_if_carrying(action, each);
    if (!is_plain_loop(loop(each))) refuse(action, "they are not both plain loops");
    if (!loop(each)->src(0)->is_const()) refuse(action, "their sizes are not both constants");
  }
  if (outer == inner || closer_of(inner) != closer)
    refuse(action, "they are not two loops of the same nest");
  if (closer->src(0)->op() == Op::Tuple && closer->op() == Op::Reduce)
    refuse(action, "they reduce a tuple");
  const std::int64_t iterations = inner->src(0)->lo();
  const UOp now = range_like(outer, outer->src(0)->lo() * iterations);
  const UOp first = now / iterations, second = now % iterations;
  const UOp body =
      with_range_replaced(with_range_replaced(UOp(closer->src(0)), outer, first), inner, second);
  std::vector<UOp> loops = list_of(closer->src().subspan(1));
  *std::ranges::find(loops, outer, &UOp::node) = now;
  loops.erase(std::ranges::find(loops, inner, &UOp::node));
  replace(closer, closed_over(UOp(closer), body, loops));
  substitute_in_bounds(outer, first);
  substitute_in_bounds(inner, second);
  std::erase(order_, within);
  loops_.erase(within);
  loops_[name] = now;
}

// All parts have iterations / count iterations, rounded up, except that the last ones may have
// fewer or none. The loop over the parts is in an END of its own around the others, since the size
// of the inner loop depends on it.
void KernelLoops::split_parallel(const Action& action) {
  refuse_if_carrying(action, action.name);
  const Node *range = loop(action.name), *closer = closer_of(range);
  const bool is_output = kernel_->size() == 1 && kernel_->src(0) == closer;
  if (!is_output || kind_of(range) != LoopKind::Loop)
    refuse(action, "it is not a plain output loop");
  if (action.count > range->src(0)->hi())  // else some part would always be empty
    refuse(action, fmt::format("it has at most {} iterations", range->src(0)->hi()));
  const UOp iterations(range->src(0)), count = const_int(action.count, range->dtype());
  const UOp each = (iterations + (action.count - 1)) / count,
            part = range_like(range, action.count);
  const UOp left = max(iterations - part * each, const_int(0, range->dtype()));
  const UOp inner = weft::range(min(each, left), fresh_id().value, LoopKind::Loop);
  const UOp place = part * each + inner,
            body = with_range_replaced(UOp(closer->src(0)), range, place);
  replace(closer, make(Op::End, {with_loop_replaced(closer, body, range, {inner}), part}));
  substitute_in_bounds(range, place);
  add_inner(action.name, part, inner);
  std::erase(order_, action.name);
  order_.insert(order_.begin(), action.name);
}

// Updates the iteration counts of loops that masks hide in part, after `range` has become `to`.
void KernelLoops::substitute_in_bounds(const Node* range, const UOp& to) {
  for (auto& [blocks, seen] : visible_blocks_) seen = substitute(seen, {{range, to}});
  for (auto& [name, part] : partly_hidden_)
    part.iterations = substitute(part.iterations, {{range, to}});
}

void KernelLoops::set_kind(const Action& action) {
  refuse_if_carrying(action, action.name);
  const Node *range = loop(action.name), *closer = closer_of(range);
  if (action.kind == LoopKind::Warp || action.kind == LoopKind::Lane)
    refuse(action, "no device has warps");
  if (closer->op() == Op::Reduce && is_parallel(action.kind) && action.kind != LoopKind::Local)
    refuse(action, "a reduction can only be shared by the items of a work-group");
  if (closer->op() != Op::Reduce && action.kind == LoopKind::Dot)
    refuse(action, "it is not a loop of a reduction");
  if (!range->src(0)->is_const() && action.kind != LoopKind::Loop)
    refuse(action, "its size is not a constant");
  set_kind(action.name, action.kind);
}

void KernelLoops::set_kind(const std::string& name, LoopKind kind) {
  const Node* range = loop(name);
  const UOp now = weft::range(UOp(range->src(0)), fresh_id().value, kind);
  replace(range, now);
  for (auto& [other, each] : loops_) each = substitute(each, {{range, now}});  // sizes, too
  substitute_in_bounds(range, now);
}

}  // namespace weft
