#include <weft/dev/schedule/region.h>

#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

namespace weft {
namespace {

constexpr OpSet region_ops{Op::Reshape, Op::Bitcast, Op::Shrink};
constexpr OpSet movable{Op::Reshape, Op::Bitcast, Op::Shrink, Op::Permute,    Op::Expand,
                        Op::Pad,     Op::Flip,    Op::Cast,   Op::Contiguous, Op::Detach};

bool is_whole(const Node* shrink, std::size_t axis) {
  return shrink->src(1)->src(axis)->is_const_int(0) &&
         shrink->src(2)->src(axis) == shrink->src(0)->dims()[axis];
}

// Returns one past the last axis along which a SHRINK leaves elements out.
std::size_t cut_axes(const Node* shrink) {
  std::size_t count = shrink->dims().size();
  while (count > 0 && is_whole(shrink, count - 1)) --count;
  return count;
}

// Returns how many bytes of the source precede the first element of a SHRINK; nothing if the
// elements are not contiguous or a size is symbolic.
std::optional<std::size_t> skipped_bytes(const Node* shrink) {
  const std::size_t cut = cut_axes(shrink);
  std::int64_t elements = 0, stride = 1;
  for (std::size_t axis = shrink->dims().size(); axis-- > 0;) {
    const Node* start = shrink->src(1)->src(axis);
    const Node* all = shrink->src(0)->dims()[axis];
    if (!start->is_const() || !all->is_const() || !shrink->dims()[axis]->is_const()) return {};
    if (axis + 1 < cut && !shrink->dims()[axis]->is_const_int(1)) return {};
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

// Rewrites COPY(op(source, ...)) to op(COPY(source), ...).
UOp after_copy(const UOp& copy, const Node* moved, const UOp& source) {
  std::vector<UOp> src{with_sources(copy, {source})};
  for (const Node* other : moved->src().subspan(1)) src.emplace_back(other);
  return with_sources(UOp(moved), src);
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
  const UOp copy(m.root());
  const Node* view = copy->src(0);
  if (!is_on_storage_device(view) || region_of(view)) return {};
  const UOp source(view->src(0));
  const UOp outer = view->op() == Op::Shrink ? contiguous_outer_shrink(view) : source;
  if (outer.is(source) || outer.node() == view) return after_copy(copy, view, source);
  Sizes start;
  for (std::size_t axis = 0; axis < view->dims().size(); ++axis) {
    const bool is_done = outer->dims()[axis] == view->dims()[axis];
    start.push_back(is_done ? const_int(0) : UOp(view->src(1)->src(axis)));
  }
  return shrink(with_sources(copy, {outer}), start, sizes_of(UOp(view)));
}

// The rules below move a SHRINK towards the memory: SHRINK(op(x)) -> op(SHRINK(x)).

UOp shrink_before_permute(const Match& m) {
  const Node* shrink = m.root();
  const Node* permute = shrink->src(0);
  if (!is_on_storage_device(shrink)) return {};
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
  if (!is_on_storage_device(shrink)) return {};
  return with_sources(
      UOp(cast), {make(Op::Shrink, {UOp(cast->src(0)), UOp(shrink->src(1)), UOp(shrink->src(2))})});
}

UOp shrink_once(const Match& m) {
  const Node* outer = m.root();
  const Node* inner = outer->src(0);
  if (!is_on_storage_device(outer)) return {};
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
  static const Pat source = any("source"), start = any("start"), sizes = any("sizes");
  const auto shrunk = [](Op op) { return node(Op::Shrink, {node(op, {source}), start, sizes}); };
  static const RuleSet rules{
      "region",
      {
          rule(shrunk(Op::Permute), shrink_before_permute),
          rule(shrunk(Op::Cast), shrink_before_cast),
          rule(node(Op::Shrink, {with_more(node(Op::Shrink)), start, sizes}), shrink_once),
          rule(node(Op::Copy, {with_more(node(movable))}), copy_region),
      }};
  return rules;
}

}  // namespace weft
