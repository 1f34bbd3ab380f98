// Partial sums: if a loop of a reduction is outside of output loops, scratch memory carries the
// partial results for all iterations of these from one iteration of that loop to the next.

#include <algorithm>

#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/slice.h>
#include <weft/error.h>

#include "kernel_loops.h"

namespace weft {
namespace {

// Whether the values of all iterations are kept in registers.
bool is_unrolled(const Node* range) {
  const LoopKind kind = range->arg<RangeArg>().kind;
  return kind == LoopKind::Upcast || kind == LoopKind::Vector || kind == LoopKind::Unroll;
}

std::vector<UOp> copies_of(const std::vector<const Node*>& ranges) {
  std::vector<UOp> copies;
  for (const Node* range : ranges) copies.push_back(range_like(range, range->src(0)->lo()));
  return copies;
}

// Whether the operand of a sum and `rest`, the remainder without the sum, share loops that depend
// on `ranges`. They cannot, because the remainder gets fresh ranges, and each RANGE is closed only
// once.
bool shares_loops(const Node* reduce, const UOp& rest, const std::vector<const Node*>& ranges) {
  const auto is_within = [&](const Node* node) {
    return OpSet{Op::End, Op::Reduce}.contains(node->op()) &&
           std::ranges::any_of(ranges, [&](auto range) { return changes_with(node, range); }) &&
           depends_on(reduce->src(0), node);
  };
  return std::ranges::any_of(toposort(rest.node()), is_within);
}

// The partial results of a reduction, one for each iteration of the loops `inside`, in scratch
// memory.
class PartialSums {
 public:
  PartialSums(const Node* reduce, const std::vector<const Node*>& inside,
              const std::vector<UOp>& around)
      : reduce_(reduce), op_(reduce->arg<ReduceArg>().op), inside_(inside), around_(around) {
    dtype_ = accumulator_of(op_, reduce->dtype());
    buffer_ = memory_for(list_of(inside), dtype_, Space::Scratch);
  }

  // Initialises the memory to the identity. Each iteration of `outer` then accumulates the
  // reduction over `inner`.
  UOp filled(const std::vector<UOp>& outer, const std::vector<UOp>& inner) const {
    const UOp begin = with_list(Op::After, buffer_, around_);
    const std::vector<UOp> first = copies_of(inside_);
    const UOp cleared =
        with_list(Op::End, store_at(place_in(begin, first), identity_of(op_, dtype_)), first);
    std::vector<UOp> iterations{cleared};
    iterations.insert(iterations.end(), outer.begin(), outer.end());
    const UOp now = place_in(with_list(Op::After, buffer_, iterations), list_of(inside_));
    std::vector<UOp> body{UOp(reduce_->src(0))};
    body.insert(body.end(), inner.begin(), inner.end());
    const UOp part = inner.empty() ? body[0] : with_sources(UOp(reduce_), body);
    const UOp sum = make(op_, {make(Op::Load, {now}), cast(part, dtype_)});
    std::vector<UOp> loops = outer;
    for (const Node* range : inside_) loops.emplace_back(range);
    return with_list(Op::End, store_at(now, sum), loops);
  }

  UOp total(const UOp& filled, const std::vector<UOp>& at) const {
    return cast(make(Op::Load, {place_in(make(Op::After, {buffer_, filled}), at)}),
                reduce_->dtype());
  }

 private:
  const Node* reduce_;
  Op op_;
  std::vector<const Node*> inside_;
  std::vector<UOp> around_;
  DType dtype_;
  UOp buffer_;
};

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
  const PartialSums parts(reduce, inside, around);
  const std::vector<UOp> last = copies_of(inside);
  Substitution by{{reduce, parts.total(parts.filled(outer, inner), last)}};
  if (shares_loops(reduce, substitute(UOp(end->src(0)), by), inside))
    user_error("schedule: the terms of a partial sum are also used outside of it");
  for (std::size_t i = 0; i < inside.size(); ++i) by.emplace(inside[i], last[i]);
  std::vector<UOp> src{substitute(UOp(end->src(0)), by)};
  for (const Node* range : end->src().subspan(1))
    src.push_back(by.contains(range) ? by.at(range) : UOp(range));
  replace(end, make(Op::End, src));
  for (auto& [name, range] : loops_)
    if (const auto now = by.find(range.node()); now != by.end()) range = now->second;
}

}  // namespace weft
