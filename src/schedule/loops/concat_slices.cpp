#include "concat_slices.h"

#include <weft/dev/ir/movement.h>

#include "concat_parts.h"
#include "graph/reshape.h"

namespace weft {
namespace {

// Rewrites SHRINK(WHERE(PAD(true), a, b)) to SHRINK(a) if the slice is inside the region that the
// PAD surrounds, and to SHRINK(b) if it is outside.
UOp shrink_of_where(const Match& m) {
  const Node *part = m.root(), *choice = part->src(0), *mask = choice->src(0);
  if (mask->op() != Op::Pad || !is_true_inside(mask->src(0))) return {};
  if (!has_known_bounds(mask) || !has_known_bounds(part)) return {};
  bool is_inside = true, is_outside = false;
  for (std::size_t axis = 0; axis < part->dims().size(); ++axis) {
    const std::int64_t first = part->src(1)->src(axis)->lo();
    const std::int64_t end = first + part->src(2)->src(axis)->lo();
    const std::int64_t begins = mask->src(1)->src(axis)->lo();
    const std::int64_t ends = begins + mask->src(0)->dims()[axis]->lo();
    is_inside = is_inside && begins <= first && end <= ends;
    is_outside = is_outside || end <= begins || ends <= first;
  }
  if (!is_inside && !is_outside) return {};
  const UOp side(choice->src(is_inside ? 1 : 2));
  if (side->shape() == nullptr) return {};
  return make(Op::Shrink, {side, UOp(part->src(1)), UOp(part->src(2))});
}

UOp shrink_of_shrink(const Match& m) {
  const Node *part = m.root(), *whole = part->src(0);
  if (!is_at_known_place(part) || !is_at_known_place(whole)) return {};
  Sizes start;
  for (std::size_t axis = 0; axis < part->dims().size(); ++axis)
    start.push_back(const_int(part->src(1)->src(axis)->lo() + whole->src(1)->src(axis)->lo()));
  return make(Op::Shrink, {UOp(whole->src(0)), tuple(start), UOp(part->src(2))});
}

}  // namespace

const RuleSet& concat_slice_rules() {
  static const RuleSet rules{
      "chosen_parts",
      {rule(with_more(node(Op::Shrink, {node(Op::Where)})), shrink_of_where),
       rule(with_more(node(Op::Shrink, {with_more(node(Op::Shrink))})), shrink_of_shrink)}};
  return rules;
}

}  // namespace weft
