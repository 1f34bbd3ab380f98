// Movement ops on sharded tensors. Each device applies the op to its own part if the result is
// sharded as well; otherwise every device gets the whole tensor.

#include <algorithm>
#include <optional>

#include "shard_rules.h"
#include "shard_slices.h"

namespace weft {
namespace {

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

Sizes members(const Node* tuple) { return {tuple->src().begin(), tuple->src().end()}; }

// Nothing if each device cannot move its own part: a size is symbolic, or the parts of the result
// would begin and end elsewhere.
using Moved = std::optional<UOp>;

// Returns the layout after a RESHAPE. Its split axis has the same number of elements outside of it
// as the one before, and each part has to end between two elements of it.
std::optional<Layout> layout_after_reshape(const Layout& before, NodeList from, NodeList to) {
  const auto outside = constant_product(from.first(at(before.axis)));
  const auto inside = constant_product(from.subspan(at(before.axis) + 1));
  if (!outside || !inside) return std::nullopt;
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    const auto element = constant_product(to.subspan(axis + 1));
    if (constant_product(to.first(axis)) != outside || !element || *element == 0) continue;
    Layout after(static_cast<std::int64_t>(axis), before.devices, {});
    for (std::int64_t bound : before.bounds) after.bounds.push_back(bound * *inside / *element);
    const bool is_whole = std::ranges::all_of(
        before.bounds, [&](std::int64_t bound) { return bound * *inside % *element == 0; });
    if (is_whole && to[axis]->is_const_int(after.bounds.back())) return after;
  }
  return std::nullopt;
}

Moved reshaped_parts(const Node* op, const Layout& layout) {
  const auto after = layout_after_reshape(layout, op->src(0)->dims(), op->dims());
  if (!after) return std::nullopt;
  return for_each_part(*after, [&](std::size_t i) {
    return reshape(UOp(op->src(0)->src(i)), after->sizes_of_part(sizes_of(UOp(op)), i));
  });
}

Moved permuted_parts(const Node* op, const Layout& layout) {
  const auto& axes = op->arg<AxesArg>().axes.get();
  Layout after = layout;
  after.axis = std::ranges::find(axes, layout.axis) - axes.begin();
  return for_each_part(after,
                       [&](std::size_t i) { return permute(UOp(op->src(0)->src(i)), axes); });
}

Moved expanded_parts(const Node* op, const Layout& layout) {
  if (op->dims()[at(layout.axis)] != op->src(0)->dims()[at(layout.axis)]) return std::nullopt;
  return for_each_part(layout, [&](std::size_t i) {
    return expand(UOp(op->src(0)->src(i)), layout.sizes_of_part(sizes_of(UOp(op)), i));
  });
}

// Padding in front belongs to the first device, padding behind to the last one.
Moved padded_parts(const Node* op, const Layout& layout) {
  const Node* before = op->src(1)->src(at(layout.axis));
  const Node* behind = op->src(2)->src(at(layout.axis));
  if (!before->is_const() || !behind->is_const()) return std::nullopt;
  const std::size_t last = layout.devices.size() - 1;
  Layout after = layout;
  for (std::size_t i = 1; i <= last; ++i) after.bounds[i] += before->lo();
  after.bounds.back() += before->lo() + behind->lo();
  return for_each_part(after, [&](std::size_t i) {
    Sizes front = members(op->src(1)), back = members(op->src(2));
    if (i != 0) front[at(layout.axis)] = const_int(0);
    if (i != last) back[at(layout.axis)] = const_int(0);
    return pad(UOp(op->src(0)->src(i)), front, back);
  });
}

Moved shrunk_parts(const Node* op, const Layout& layout) {
  const Node* start = op->src(1)->src(at(layout.axis));
  const Node* size = op->dims()[at(layout.axis)];
  if (!start->is_const() || !size->is_const()) return std::nullopt;
  const auto inside = [&](std::int64_t place) {
    return std::clamp(place - start->lo(), std::int64_t{0}, size->lo());
  };
  Layout after = layout;
  for (std::int64_t& bound : after.bounds) bound = inside(bound);
  return for_each_part(after, [&](std::size_t i) {
    Sizes first = members(op->src(1));
    const std::int64_t begin = layout.bounds[i];
    first[at(layout.axis)] =
        const_int(std::clamp(start->lo() - begin, std::int64_t{0}, layout.size(i)));
    return shrink(UOp(op->src(0)->src(i)), first, after.sizes_of_part(sizes_of(UOp(op)), i));
  });
}

// Each device flips its own part. If the split axis is flipped, the parts are in reverse order.
Moved flipped_parts(const Node* op, const Layout& layout) {
  const auto& axes = op->arg<AxesArg>().axes.get();
  std::vector<UOp> parts;
  for (const Node* part : op->src(0)->src()) parts.push_back(flip(UOp(part), axes));
  Layout after = layout;
  if (std::ranges::find(axes, layout.axis) != axes.end()) {
    std::ranges::reverse(parts);
    std::ranges::reverse(after.devices);
  }
  return after.multi(parts);
}

template <Moved (*Move)(const Node*, const Layout&)>
UOp moved(const Match& m) {
  const Layout layout = Layout::of(m.root()->src(0));
  if (!layout.is_split()) return apply_on_each(m.root(), layout);
  const Moved parts = Move(m.root(), layout);
  return parts ? *parts : apply_on_each(m.root(), Layout(layout.devices));
}

Pat of_parts(Op op) { return with_more(node(op, {node(Op::Multi)})); }

}  // namespace

const RuleSet& shard_movement_rules() {
  static const RuleSet rules{"shard_movement",
                             {
                                 rule(of_parts(Op::Reshape), moved<reshaped_parts>),
                                 rule(of_parts(Op::Permute), moved<permuted_parts>),
                                 rule(of_parts(Op::Expand), moved<expanded_parts>),
                                 rule(of_parts(Op::Pad), moved<padded_parts>),
                                 rule(of_parts(Op::Shrink), moved<shrunk_parts>),
                                 rule(of_parts(Op::Flip), moved<flipped_parts>),
                             }};
  return rules;
}

}  // namespace weft
