#include "uniform_sums.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <weft/dev/base/size_limits.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

#include "rebuild.h"
#include "reshape.h"

namespace weft {
namespace {

constexpr double least_saved = 65536;  // terms

// The axes along which a tensor is uniform, one bit each. An axis of size 1 is always uniform.
using AxisSet = std::uint64_t;
constexpr std::size_t most_axes = 64;

constexpr AxisSet bit(std::size_t axis) { return AxisSet{1} << axis; }

std::optional<std::int64_t> number(const Node* size) {
  const Interval bounds = size->bounds();
  return bounds.lo == bounds.hi ? std::optional(bounds.lo) : std::nullopt;
}

// Returns the uniform axes of a RESHAPE, given those of its source. The axes of a group are uniform
// if all source axes of the group are.
AxisSet through_reshape(const Node* reshape, AxisSet before) {
  AxisSet result = 0;
  for (const AxisGroup& group : axis_groups(reshape->src(0)->dims(), reshape->dims())) {
    bool is_same = true;
    for (std::size_t i = group.from; i < group.from_end; ++i)
      is_same = is_same && (before & bit(i)) != 0;
    for (std::size_t i = group.to; is_same && i < group.to_end; ++i) result |= bit(i);
  }
  return result;
}

class UniformAxes {
 public:
  // Is called for sources before their users, which keeps the recursion of along() shallow.
  UOp computed_once(const UOp& tensor) {
    const UOp made = tensor->op() == Op::Reduce ? once(tensor) : tensor;
    along(made.node());
    return made;
  }

 private:
  AxisSet along(const Node* node) {
    if (const AxisSet* known = known_.find(node)) return *known;
    for (const Node* source : node->src()) along(source);
    const AxisSet result = found(node);
    known_.set(node, result);
    return result;
  }

  // Returns the sum itself if that would save too little.
  UOp once(const UOp& sum) {
    const Node* value = sum->src(0);
    Sizes sizes = sizes_of(UOp(value));
    double terms = 1, fewer = 1;
    const AxisSet same = along(value);
    const auto axes = sum->arg<ReduceArg>().axes.get();
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      const auto size = number(sizes[axis].node());
      if (!size || *size < 1) return sum;
      terms *= static_cast<double>(*size);
      const bool is_reduced =
          std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
      if (!is_reduced && (same & bit(axis)) != 0)
        sizes[axis] = const_int(1);
      else
        fewer *= static_cast<double>(*size);
    }
    if (terms - fewer < least_work(least_saved)) return sum;
    const UOp first = shrink(UOp(value), Sizes(sizes.size(), const_int(0)), sizes);
    return expand(with_sources(sum, {first}), sizes_of(sum));
  }

  AxisSet found(const Node* node) {
    const NodeList dims = node->dims();
    if (dims.size() > most_axes) return 0;
    AxisSet result =
        node->op() == Op::Reshape ? through_reshape(node, *known_.find(node->src(0))) : AxisSet{0};
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
      if (number(dims[axis]) == 1 || is_same(node, axis)) result |= bit(axis);
    return result;
  }

  bool is_same(const Node* node, std::size_t axis) {
    const auto of_source = [&](std::size_t at) {
      return (*known_.find(node->src(0)) & bit(at)) != 0;
    };
    switch (node->op()) {
      case Op::Expand: return number(node->src(0)->dims()[axis]) == 1 || of_source(axis);
      case Op::Permute: {
        const auto before = source_axis(node, axis);
        return before && of_source(*before);
      }
      case Op::Pad: return node->dims()[axis] == node->src(0)->dims()[axis] && of_source(axis);
      case Op::Shrink:
      case Op::Flip:
      case Op::Reduce:
      case Op::Contiguous: return of_source(axis);
      default: break;
    }
    if (!is_elementwise(node->op())) return false;
    return std::ranges::all_of(node->src(), [&](const Node* source) {
      return source->dims().empty() || (*known_.find(source) & bit(axis)) != 0;
    });
  }

  NodeMap<AxisSet> known_;
};

}  // namespace

std::vector<UOp> with_uniform_reductions_hoisted(const std::vector<UOp>& tensors) {
  UniformAxes uniform;
  return rebuilt(tensors, [&](const Node* node, const std::vector<UOp>& sources) {
    return uniform.computed_once(with_sources(UOp(node), sources));
  });
}

}  // namespace weft
