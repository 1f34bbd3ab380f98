// Replaces VECTOR ranges by vector lanes.
//
// This is a traversal and not a rewrite rule, since the result for a node depends on which of its
// sources have lanes. Indices with a constant stride between lanes are written as a base plus
// multiples of the lane numbers. Renderers recognise contiguous accesses by this form, and
// `transpose_vectors` strided ones.

#include <algorithm>
#include <optional>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/cost/nest.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/scan.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>

#include "common/loops.h"
#include "common/traversal.h"
#include "lanes.h"
#include "strided.h"

namespace weft {
namespace {

constexpr auto is_vector_range = is_range<LoopKind::Vector>;

std::uint32_t lanes_of(const Node* range) {
  const Node* size = range->src(0);
  if (!size->is_const() || size->lo() < 1 || size->lo() > DType::most_lanes)
    user_error("the size of a VECTOR range is not a constant that fits a register");
  return static_cast<std::uint32_t>(size->lo());
}

UOp reversed(const UOp& value) {
  const std::uint32_t lanes = value->dtype().lanes();
  return lanes == 1 ? value
                    : shuffled(value, lanes, [=](std::uint32_t i) { return lanes - 1 - i; });
}

// Computes an inclusive prefix scan of the lanes. Each step combines every lane with the one that
// is 1, 2, 4 ... lanes before it.
UOp scanned(Op op, UOp value) {
  const std::uint32_t lanes = value->dtype().lanes();
  for (std::uint32_t by = 1; by < lanes; by *= 2) {
    std::vector<UOp> has_another;
    for (std::uint32_t i = 0; i < lanes; ++i) has_another.push_back(const_bool(i >= by));
    const UOp before = shuffled(value, lanes, [=](std::uint32_t i) { return i < by ? i : i - by; });
    value = where(make(Op::Stack, has_another), make(op, {before, value}), value);
  }
  return value;
}

// Checks that the lanes of a value are the iterations of a single range. With two ranges they would
// be the diagonal of both.
void check_lanes(const Node* value) {
  if (std::ranges::count_if(value->ranges(), is_vector_range) > 1)
    internal_error("expand: a value has the lanes of two VECTOR ranges");
}

UOp sum(const UOp& a, const UOp& b) {
  if (a->is_const_int(0)) return b;
  return b->is_const_int(0) ? a : a + b;
}

// An index as base + stride * lane.
struct Line {
  UOp base;
  std::int64_t stride = 0;
};

class Expand : public Rebuilt {
 public:
  explicit Expand(NodeList roots) { expand(roots); }

 private:
  void expand(NodeList roots) {
    for (const Node* node : toposort(roots))
      if (!contains(node)) set(node, expanded(node));
  }

  UOp expanded(const Node* node) {
    note_line(node);
    if (is_vector_range(node)) return lane_numbers(lanes_of(node), node->dtype());
    switch (node->op()) {
      case Op::End: return end(node);
      case Op::Reduce: return reduce(node);
      case Op::Index: return index(node);
      case Op::Load: return load(node);
      case Op::Store: return store(node);
      case Op::Prefetch: return make(Op::Prefetch, {first_lane(node->src(0))});
      default:
        return is_elementwise(node->op()) ? with_lanes(node, node->size()) : with_new_sources(node);
    }
  }

  // Rebuilds the node with its first `count` sources broadcast to the widest of them.
  UOp with_lanes(const Node* node, std::size_t count) const {
    std::vector<UOp> src = sources(node);
    count = std::min(count, src.size());
    std::uint32_t lanes = 1;
    for (std::size_t i = 0; i < count; ++i) lanes = std::max(lanes, src[i]->dtype().lanes());
    for (std::size_t i = 0; i < count; ++i)
      if (src[i]->op() != Op::Index) src[i] = splat(src[i], lanes);
    return on_lanes(node, src, lanes);
  }

  // Memory of a single element is loaded once, unconditionally, and broadcast. The mask selects the
  // result of each lane.
  UOp load(const Node* node) const {
    const Node* place = node->src(0);
    if (const UOp from = reversed_place(place); !from.is_null()) {
      std::vector<UOp> src{from};
      for (const Node* other : node->src().subspan(1))
        src.push_back(splat(reversed((*this)[other]), from->dtype().lanes()));
      return reversed(make(Op::Load, src));
    }
    const UOp valid = (*this)[place->src(1)];
    if (const auto at = short_stride_line(node)) {
      const UOp otherwise = node->size() > 1 ? (*this)[node->src(1)] : UOp();
      return load_strided({(*this)[place->src(0)], valid, at->base, at->stride,
                           (*this)[place->src(2)]->dtype().lanes(), otherwise});
    }
    const std::uint32_t lanes = valid->dtype().lanes();
    if (place->size() > 2 || lanes == 1) return with_lanes(node, 2);
    const UOp value = splat(make(Op::Load, {place_in((*this)[place->src(0)], {})}), lanes);
    const UOp other = node->size() > 1 ? (*this)[node->src(1)] : const_int(0, node->dtype());
    return where(valid, value, splat(other, lanes));
  }

  // Returns the line of a load with a short stride, which loads everything between the lanes and
  // shuffles them out. Bools are excluded, since they are bits in registers. The fallback value
  // must be the same in all lanes.
  std::optional<Line> short_stride_line(const Node* load) const {
    const Node* place = load->src(0);
    if (place->size() != 3 || load->dtype().is_bool()) return std::nullopt;
    // `dots` loads the elements between the lanes itself.
    if (std::ranges::any_of(place->ranges(), is_range<LoopKind::Dot>)) return std::nullopt;
    const bool is_plain = load->size() == 1 || (*this)[load->src(1)]->dtype().lanes() == 1;
    const auto at = line(place->src(2));
    const std::uint32_t lanes = (*this)[place->src(2)]->dtype().lanes();
    return is_plain && at && has_short_stride(at->stride, lanes) ? at : std::nullopt;
  }

  // Returns the place of an access with stride -1, lanes in memory order; null for other strides.
  UOp reversed_place(const Node* place) const {
    if (place->size() != 3) return {};
    const auto at = line(place->src(2));
    if (!at || at->stride != -1) return {};
    const UOp valid = (*this)[place->src(1)];
    const std::uint32_t lanes = (*this)[place->src(2)]->dtype().lanes();
    const UOp first = at->base - const_int(lanes - 1, at->base->dtype());
    const UOp is_valid = valid->is_const() ? valid : reversed(splat(valid, lanes));
    return make(Op::Index, {(*this)[place->src(0)], is_valid, lanes_from(first, lanes)});
  }

  // If all lanes store to the same place, the value of the last lane remains.
  UOp store(const Node* node) const {
    check_lanes(node);
    if (const UOp to = reversed_place(node->src(0));
        !to.is_null() && !node->arg<StoreArg>().combine) {
      std::vector<UOp> src = sources(node);
      src[0] = to;
      src[1] = reversed(splat(src[1], to->dtype().lanes()));
      return with_sources(UOp(node), src);
    }
    const UOp to = (*this)[node->src(0)], value = (*this)[node->src(1)];
    const std::uint32_t lanes = value->dtype().lanes();
    if (to->dtype().lanes() == lanes || lanes == 1 || node->arg<StoreArg>().combine)
      return with_lanes(node, 2);
    std::vector<UOp> src = sources(node);
    src[1] = lane(value, lanes - 1);
    return with_sources(UOp(node), src);
  }

  void note_line(const Node* node) {
    if (!node->dtype().is_int()) return;
    if (is_vector_range(node)) return keep(node, {const_int(0, node->dtype()), 1});
    if (!OpSet{Op::Add, Op::Sub, Op::Mul}.contains(node->op())) return;
    const auto a = line(node->src(0)), b = line(node->src(1));
    if (!a || !b || (a->stride == 0 && b->stride == 0)) return;
    if (node->op() == Op::Add) return keep(node, {sum(a->base, b->base), a->stride + b->stride});
    if (node->op() == Op::Sub) {
      const UOp base = b->base->is_const_int(0) ? a->base : a->base - b->base;
      return keep(node, {base, a->stride - b->stride});
    }
    const Node* factor = node->src(1);
    std::int64_t stride = 0;
    if (!factor->is_const() || __builtin_mul_overflow(a->stride, factor->lo(), &stride)) return;
    keep(node, {a->base->is_const_int(0) ? a->base : a->base * b->base, stride});
  }
  void keep(const Node* node, Line line) {
    line_.set(node, static_cast<std::uint32_t>(lines_.size()));
    lines_.push_back(std::move(line));
  }
  std::optional<Line> line(const Node* node) const {
    if (const std::uint32_t* known = line_.find(node)) return lines_[*known];
    if ((*this)[node]->dtype().lanes() > 1) return std::nullopt;
    return Line{(*this)[node], 0};
  }

  UOp index(const Node* node) const {
    std::vector<UOp> src = sources(node);
    std::uint32_t lanes = 1;
    for (std::size_t i = 1; i < src.size(); ++i) lanes = std::max(lanes, src[i]->dtype().lanes());
    if (lanes == 1) return make(Op::Index, src);
    if (!src[1]->is_const()) src[1] = splat(src[1], lanes);
    for (std::size_t i = 2; i < src.size(); ++i) {
      const auto at = line(node->src(i));
      // strided_index_of() expects a SPLAT, even of a constant.
      src[i] = at && at->stride != 0 ? short_lanes_from(at->base, lanes, at->stride)
                                     : splat(src[i], lanes);
    }
    return make(Op::Index, src);
  }

  // Returns the place of the first lane, whose cache line holds most of the contiguous lanes.
  UOp first_lane(const Node* place) const {
    std::vector<UOp> src = sources(place);
    for (std::size_t i = 1; i < src.size(); ++i)
      if (src[i]->dtype().lanes() > 1) src[i] = lane(src[i], 0);
    return make(Op::Index, src);
  }

  UOp end(const Node* node) const {
    std::vector<UOp> src{(*this)[node->src(0)]};
    for (const Node* range : node->src().subspan(1))
      if (!is_vector_range(range)) src.push_back((*this)[range]);
    return src.size() == 1 && node->size() > 1 ? src[0] : make(Op::End, src);
  }

  // Returns whether the scan combines the lanes up to the current lane of another VECTOR range.
  static bool scans_lanes(const Scan& scan) {
    return is_vector_range(scan.range) && scan.rises && scan.steps.size() == 1 &&
           scan.steps[0].factor == 1 && is_vector_range(scan.steps[0].range) &&
           scan.steps[0].range->src(0) == scan.range->src(0) && scan.last->bounds().lo == 0;
  }

  UOp reduce(const Node* node) {
    const auto& arg = node->arg<ReduceArg>();
    const std::vector<Scan> scans = scans_of(node);
    if (const auto scan = std::ranges::find_if(scans, scans_lanes); scan != scans.end()) {
      const UOp value = rewrite(scan->value, symbolic());
      expand({{value.node()}});
      return scanned(arg.op, splat((*this)[value.node()], lanes_of(scan->range)));
    }
    check_lanes(node->src(0));
    std::vector<UOp> src{(*this)[node->src(0)]};
    std::uint32_t lanes = 1;
    for (const Node* range : node->src().subspan(1)) {
      if (is_vector_range(range))
        lanes *= lanes_of(range);
      else
        src.push_back((*this)[range]);
    }
    if (lanes > 1 && src[0]->op() == Op::Tuple)
      user_error("a REDUCE of a list has no VECTOR range: its lanes would be those of one value");
    if (lanes > 1) src[0] = splat(src[0], lanes);
    UOp result = src.size() > 1 || node->size() == 1 ? make(Op::Reduce, src, {}, arg) : src[0];
    return lanes > 1 ? across_lanes(arg.op, result) : result;
  }

  // Combines the upper half of the lanes with the lower half until one lane is left.
  static UOp across_lanes(Op op, const UOp& vector) {
    std::vector<UOp> parts;
    for (std::uint32_t i = 0; i < vector->dtype().lanes(); ++i) parts.push_back(lane(vector, i));
    while (parts.size() > 1) {
      const std::size_t half = (parts.size() + 1) / 2;
      for (std::size_t i = half; i < parts.size(); ++i)
        parts[i - half] = make(op, {parts[i - half], parts[i]});
      parts.resize(half);
    }
    return parts[0];
  }

  NodeMap<std::uint32_t> line_;
  std::vector<Line> lines_;
};

}  // namespace

std::vector<UOp> expand(const std::vector<UOp>& roots, const RewriteOptions&) {
  if (std::ranges::none_of(toposort(nodes_of(roots)), is_vector_range)) return roots;
  return traversed<Expand>(roots);
}

}  // namespace weft
