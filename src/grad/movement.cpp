// Movement backwards: what was repeated is added up, what was cut off is 0.

#include <weft/dev/ir/movement.h>

#include "rules.h"

namespace weft {
namespace {

UOp as_index(const Node* size) { return cast(UOp(size), dtypes::index); }

}  // namespace

UOp added_up(const UOp& tensor, const std::vector<std::int64_t>& axes) {
  const DType dtype = tensor->dtype();
  return cast(reduce(Op::Add, cast(tensor, promote(dtype, dtypes::f32)), axes), dtype);
}

UOp filled(const UOp& value, const std::vector<UOp>& sizes) {
  return expand(reshape(value, Sizes(sizes.size(), const_int(1))), sizes);
}

UOp undo_permute(const UOp& tensor, const std::vector<std::int64_t>& axes) {
  Axes inverse(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    inverse[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  return permute(tensor, inverse);
}

UOp folded(const UOp& size) { return size->bounds().is_point() ? const_int(size->lo()) : size; }

Gradients of_permute(const GradientStep& step) {
  return {undo_permute(step.g, step.y->arg<AxesArg>().axes.get())};
}

// A symbolic size may turn out to be 1, or to be what it becomes. Either way the gradient is the sum
// of to/from rows with `from` elements.
Gradients of_expand(const GradientStep& step) {
  const NodeList from = step.a->dims(), to = step.y->dims();
  Sizes split;
  Axes repeated;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (from[i] != to[i]) repeated.push_back(std::ssize(split));
    if (from[i] == to[i] || from[i]->is_const_int(1)) {
      split.emplace_back(to[i]);
    } else {
      split.push_back(as_index(to[i]) / as_index(from[i]));
      split.emplace_back(from[i]);
    }
  }
  return {reshape(added_up(reshape(step.g, split), repeated), sizes_of(step.a))};
}

Gradients of_shrink(const GradientStep& step) {
  Sizes before, after;
  for (std::size_t i = 0; i < step.y->dims().size(); ++i) {
    const Node* start = step.b->src(i);
    before.emplace_back(start);
    after.push_back(
        folded(as_index(step.a->dims()[i]) - as_index(start) - as_index(step.y->dims()[i])));
  }
  return {pad(step.g, before, after)};
}

}  // namespace weft
