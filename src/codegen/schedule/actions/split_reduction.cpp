// Partial sums: if a loop of a reduction is outside of output loops, scratch memory carries the
// partial results for all iterations of these from one iteration of that loop to the next.

#include <algorithm>

#include <weft/dev/codegen/accumulator.h>
#include <weft/error.h>

#include "common/loops.h"
#include "fills.h"
#include "kernel_loops.h"

namespace weft {
namespace {

// Whether the values of all iterations are kept in registers.
bool is_unrolled(const Node* range) {
  const LoopKind kind = kind_of(range);
  return kind == LoopKind::Upcast || kind == LoopKind::Vector || kind == LoopKind::Unroll;
}

std::vector<UOp> copies_of(const std::vector<const Node*>& ranges) {
  std::vector<UOp> copies;
  for (const Node* range : ranges) copies.push_back(range_like(range));
  return copies;
}

// Whether the operand of a sum and `rest`, the remainder without the sum, share loops that depend
// on `ranges`. They cannot, because the remainder gets fresh ranges, and each RANGE is closed only
// once.
bool shares_loops(const Node* reduce, const UOp& rest, const std::vector<const Node*>& ranges) {
  const auto is_within = [&](const Node* node) {
    return OpSet{Op::End, Op::Reduce}.contains(node->op()) && changes_with_one_of(node, ranges) &&
           depends_on(reduce->src(0), node);
  };
  return std::ranges::any_of(toposort(rest.node()), is_within);
}

// Returns scratch memory with a partial result of the reduction for each iteration of the loops
// `inside`. It starts as the identity, and each iteration of `outer` accumulates the reduction over
// `inner`.
UOp partial_sums(const Node* reduce, const std::vector<const Node*>& inside,
                 const std::vector<UOp>& around, const std::vector<UOp>& outer,
                 const std::vector<UOp>& inner) {
  const Op op = reduce->arg<ReduceArg>().op;
  const DType dtype = accumulator_of(op, reduce->dtype());
  const std::vector<UOp> at = list_of(inside), first = copies_of(inside);
  const UOp buffer = memory_for(at, dtype, Space::Scratch);
  const UOp begin = place_in(with_list(Op::After, buffer, around), first);
  std::vector<UOp> iterations{with_list(Op::End, store_at(begin, identity_of(op, dtype)), first)};
  iterations.insert(iterations.end(), outer.begin(), outer.end());
  const UOp now = place_in(with_list(Op::After, buffer, iterations), at);
  const UOp part = closed_over(UOp(reduce), UOp(reduce->src(0)), inner);
  const UOp sum = make(op, {make(Op::Load, {now}), cast(part, dtype)});
  std::vector<UOp> loops = outer;
  loops.insert(loops.end(), at.begin(), at.end());
  return make(Op::After, {buffer, with_list(Op::End, store_at(now, sum), loops)});
}

}  // namespace

void KernelLoops::keep_partial_sums(const Node* reduce) {
  const NodeList own = reduce->src().subspan(1);
  const auto begin = std::ranges::find_if_not(own, is_unrolled);
  if (begin == own.end()) return;
  std::vector<const Node*> inside;  // output loops inside the reduction's first
  std::vector<UOp> around, outer, inner;
  for (const Node* range : reduce->ranges()) {
    const bool is_output = closer_of(range)->op() == Op::End;
    if (is_output && (is_unrolled(range) || comes_before(*begin, range)))
      inside.push_back(range);
    else
      around.emplace_back(range);
  }
  if (std::ranges::all_of(inside, is_unrolled)) return;
  std::ranges::sort(inside, [&](auto a, auto b) { return comes_before(a, b); });
  for (const Node* range : own) {
    const auto stands_after = [&](auto other) { return comes_before(other, range); };
    if (!is_unrolled(range) && std::ranges::none_of(inside, stands_after))
      outer.emplace_back(range);
    else if (is_unrolled(range) || std::ranges::all_of(inside, [&](auto other) {
               return stands_after(other) || is_unrolled(other);
             }))
      inner.emplace_back(range);
    else
      user_error(
          "schedule: the loops of a reduction are in more than two places of the loop order");
  }
  const Node* end = closer_of(inside[0]);
  if (!std::ranges::all_of(inside, [](auto range) { return range->src(0)->is_const(); }))
    user_error("schedule: partial sums are in a loop of symbolic size");
  for (const Node* range : inside)
    if (closer_of(range) != end)
      user_error("schedule: partial sums are in loops of several loop nests");
  const std::vector<UOp> last = copies_of(inside);
  const UOp total =
      make(Op::Load, {place_in(partial_sums(reduce, inside, around, outer, inner), last)});
  Substitution by{{reduce, cast(total, reduce->dtype())}};
  if (shares_loops(reduce, substitute(UOp(end->src(0)), by), inside))
    user_error("schedule: the terms of a partial sum are also used outside of it");
  for (std::size_t i = 0; i < inside.size(); ++i) by.emplace(inside[i], last[i]);
  replace(end, substitute(UOp(end), by));
  for (auto& [name, range] : loops_)
    if (const auto now = by.find(range.node()); now != by.end()) range = now->second;
}

}  // namespace weft
