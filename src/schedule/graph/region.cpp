#include <weft/dev/schedule/region.h>

#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

#include "reshape.h"

namespace weft {
namespace {

constexpr OpSet region_ops{Op::Reshape, Op::Bitcast, Op::Shrink};
constexpr OpSet movable{Op::Reshape, Op::Bitcast, Op::Shrink, Op::Permute,    Op::Expand,
                        Op::Pad,     Op::Flip,    Op::Cast,   Op::Contiguous, Op::Detach};

// Returns how many bytes of the source precede the first element of a SHRINK; nothing if the
// elements are not contiguous or a size is symbolic.
std::optional<std::size_t> skipped_bytes(const Node* shrink) {
  if (!has_known_bounds(shrink) || !are_constants(shrink->src(0)->dims())) return {};
  bool is_cut = false;  // along an inner axis
  std::int64_t elements = 0, stride = 1;
  for (std::size_t axis = shrink->dims().size(); axis-- > 0;) {
    const Node* start = shrink->src(1)->src(axis);
    const Node* all = shrink->src(0)->dims()[axis];
    if (is_cut && !shrink->dims()[axis]->is_const_int(1)) return {};
    is_cut = is_cut || !start->is_const_int(0) || shrink->dims()[axis] != all;
    std::int64_t before = 0;
    if (__builtin_mul_overflow(start->lo(), stride, &before) ||
        __builtin_add_overflow(elements, before, &elements) ||
        __builtin_mul_overflow(stride, all->lo(), &stride))
      return {};
  }
  return static_cast<std::size_t>(elements) * shrink->dtype().bytes();
}

// Returns whether this is a view of memory on a device that runs no kernels.
bool is_on_storage_device(const Node* view) {
  while (movable.contains(view->op())) view = view->src(0);
  if (view->op() != Op::Buffer) return false;
  const Symbol device = view->arg<BufferArg>().device;
  return !device.empty() && !find_device(device.get()).runs_kernels();
}

// Returns the SHRINK of the source along the outermost axes only. It is contiguous, and less has to
// be copied than the whole source.
UOp contiguous_outer_shrink(const Node* shrink) {
  const UOp source(shrink->src(0));
  Sizes start, sizes;
  bool is_outer = true;
  for (std::size_t axis = 0; axis < shrink->dims().size(); ++axis) {
    const Node* first = shrink->src(1)->src(axis);
    const Node* size = shrink->dims()[axis];
    const bool is_cut = is_outer && first->is_const() && size->is_const();
    start.push_back(is_cut ? UOp(first) : const_int(0));
    sizes.push_back(UOp(is_cut ? size : source->dims()[axis]));
    is_outer = is_cut && size->is_const_int(1);
  }
  return weft::shrink(source, start, sizes);
}

UOp copy_region(const Match& m) {
  const UOp copy(m.root()), view = copy.src(0), source = view.src(0);
  if (!is_on_storage_device(view.node()) || region_of(view.node())) return {};
  const UOp outer = view->op() == Op::Shrink ? contiguous_outer_shrink(view.node()) : source;
  if (outer.is(source) || outer.is(view))
    return rebased(view, source, with_sources(copy, {source}));
  Sizes start;
  for (std::size_t axis = 0; axis < view->dims().size(); ++axis) {
    const bool is_done = outer->dims()[axis] == view->dims()[axis];
    start.push_back(is_done ? const_int(0) : view.src(1).src(axis));
  }
  return shrink(with_sources(copy, {outer}), start, sizes_of(view));
}

// The rules below move a SHRINK towards the memory: SHRINK(op(x)) -> op(SHRINK(x)).

UOp shrink_before_permute(const Match& m) {
  const Node* shrink = m.root();
  const Node* permute = shrink->src(0);
  const auto& axes = permute->arg<AxesArg>().axes.get();
  Sizes start(axes.size()), sizes(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    start[static_cast<std::size_t>(axes[i])] = UOp(shrink->src(1)->src(i));
    sizes[static_cast<std::size_t>(axes[i])] = UOp(shrink->dims()[i]);
  }
  return with_sources(UOp(permute), {weft::shrink(UOp(permute->src(0)), start, sizes)});
}

UOp shrink_before_cast(const Match& m) {
  const Node* shrink = m.root();
  const Node* cast = shrink->src(0);
  return with_sources(
      UOp(cast), {make(Op::Shrink, {UOp(cast->src(0)), UOp(shrink->src(1)), UOp(shrink->src(2))})});
}

UOp shrink_once(const Match& m) {
  const Node* outer = m.root();
  const Node* inner = outer->src(0);
  Sizes start;
  for (std::size_t i = 0; i < outer->dims().size(); ++i)
    start.push_back(UOp(outer->src(1)->src(i)) + UOp(inner->src(1)->src(i)));
  return weft::shrink(UOp(inner->src(0)), start, sizes_of(UOp(outer)));
}

}  // namespace

std::optional<Region> region_of(const Node* view) {
  std::size_t offset = 0;
  for (; region_ops.contains(view->op()); view = view->src(0)) {
    if (view->op() == Op::Bitcast && view->dtype().bytes() != view->src(0)->dtype().bytes())
      return {};
    if (view->op() != Op::Shrink) continue;
    const auto skipped = skipped_bytes(view);
    if (!skipped || __builtin_add_overflow(offset, *skipped, &offset)) return {};
  }
  if (view->op() != Op::Buffer) return {};
  return Region{view, offset};
}

const RuleSet& region_rules() {
  const auto shrunk = [](Op op) { return with_more(node(Op::Shrink, {node(op)})); };
  static const Guard is_stored =
      when([](const Match& m) { return is_on_storage_device(m.root()); });
  static const RuleSet rules{"region",
                             {
                                 rule(shrunk(Op::Permute), shrink_before_permute, is_stored),
                                 rule(shrunk(Op::Cast), shrink_before_cast, is_stored),
                                 rule(shrunk(Op::Shrink), shrink_once, is_stored),
                                 rule(node(Op::Copy, {node(movable)}), copy_region),
                             }};
  return rules;
}

}  // namespace weft
