#include "region_inference.h"

#include <algorithm>
#include <span>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/interner.h>
#include <weft/dev/ir/movement.h>

#include "reshape.h"

namespace weft {
namespace {

// A range of elements along an axis. An empty range stands for all of an axis of unknown size.
struct Span {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const Span&) const = default;
};
using Box = std::vector<Span>;

Span whole_axis(const Node* size) { return {0, size->is_const() ? size->lo() : 0}; }

Box whole(NodeList dims) {
  Box box;
  for (const Node* size : dims) box.push_back(whole_axis(size));
  return box;
}
Box whole(const Node* tensor) { return whole(tensor->dims()); }

Box hull(const Box& a, const Box& b) {
  Box box;
  for (std::size_t i = 0; i < a.size(); ++i)
    box.push_back({std::min(a[i].begin, b[i].begin), std::max(a[i].end, b[i].end)});
  return box;
}

// --- RESHAPE: groups of axes with equal numbers of elements --------------------------------------

Span as_interval(NodeList sizes, std::span<const Span> box) {
  Span interval{0, 0};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    interval.begin = interval.begin * sizes[i]->lo() + box[i].begin;
    interval.end = interval.end * sizes[i]->lo() + box[i].end - 1;
  }
  return {interval.begin, interval.end + 1};
}

// Returns the smallest box over axes of these sizes that contains the interval. It consists of whole
// rows, unless the interval lies within a single row.
Box box_around(Span interval, NodeList sizes) {
  Box box;
  bool is_inside = true;  // within a single row of the axes so far
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto row = static_cast<std::int64_t>(elements_behind(sizes, i));
    const Span rows{interval.begin / row, (interval.end - 1) / row + 1};
    box.push_back(is_inside ? rows : Span{0, sizes[i]->lo()});
    is_inside = is_inside && rows.size() == 1;
    interval = {interval.begin % row, (interval.end - 1) % row + 1};
  }
  return box;
}

// Boxes in the source and the result of a RESHAPE that contain the same elements.
struct Reshaped {
  Box source, result;
};

// Returns the boxes of the axes of one group.
Reshaped reshaped(NodeList from, NodeList to, std::span<const Span> needed) {
  const Box source = box_around(as_interval(to, needed), from);
  const Span held = as_interval(from, source);
  const Box result = box_around(held, to);
  return as_interval(to, result) == held ? Reshaped{source, result}
                                         : Reshaped{whole(from), whole(to)};
}

Reshaped reshaped(const Node* node, const Box& needed) {
  const NodeList from = node->src(0)->dims(), to = node->dims();
  const auto is_nothing = [](const Span& span) { return span.size() == 0; };
  if (!have_known_sizes(from) || !have_known_sizes(to) || std::ranges::any_of(needed, is_nothing))
    return {whole(from), whole(to)};
  Reshaped boxes;
  for (const auto& [i, from_end, j, to_end] : axis_groups(from, to)) {
    const std::size_t count = to_end - j;
    const auto [source, result] = reshaped(from.subspan(i, from_end - i), to.subspan(j, count),
                                           std::span(needed).subspan(j, count));
    boxes.source.insert(boxes.source.end(), source.begin(), source.end());
    boxes.result.insert(boxes.result.end(), result.begin(), result.end());
  }
  return boxes;
}

// --- The boxes of its sources that an op needs for a box of its result ---------------------------

bool propagates_region(const Node* node) {
  if (node->shape() == nullptr) return false;
  const auto fits = [&](const Node* source) {
    return source->shape() == nullptr || source->shape() == node->shape();
  };
  if (is_elementwise(node->op()) || node->op() == Op::Detach)
    return std::ranges::all_of(node->src(), fits);
  return is_movement(node) || node->op() == Op::Reduce;
}

// Slightly smaller sizes save little and fill vector registers less well.
constexpr double max_restricted_share = 0.75;

bool is_much_less(const Node* node, const Box& box) {
  double share = 1;
  for (std::size_t i = 0; i < box.size(); ++i)
    if (const Span all = whole_axis(node->dims()[i]); all.size() > 0)
      share *= static_cast<double>(box[i].size()) / static_cast<double>(all.size());
  return share <= max_restricted_share;
}

std::int64_t bound(const Node* node, std::size_t list, std::size_t axis) {
  return node->src(list)->src(axis)->lo();
}

Box needed_of_source(const Node* node, const Node* source, const Box& needed) {
  if (source->shape() == nullptr) return {};
  Box box = whole(source);
  switch (node->op()) {
    case Op::Reshape: return reshaped(node, needed).source;
    case Op::Permute: {
      const auto& axes = node->arg<AxesArg>().axes.get();
      for (std::size_t i = 0; i < axes.size(); ++i)
        box[static_cast<std::size_t>(axes[i])] = needed[i];
      return box;
    }
    case Op::Flip:
      box = needed;
      for (const std::int64_t axis : node->arg<AxesArg>().axes.get()) {
        const auto i = static_cast<std::size_t>(axis);
        const Span all = whole_axis(node->dims()[i]);
        if (all.size() > 0) box[i] = {all.end - needed[i].end, all.end - needed[i].begin};
      }
      return box;
    case Op::Reduce:
      box = needed;
      for (const std::int64_t axis : node->arg<ReduceArg>().axes.get())
        box[static_cast<std::size_t>(axis)] =
            whole_axis(source->dims()[static_cast<std::size_t>(axis)]);
      return box;
    case Op::Pad:
    case Op::Shrink: {
      if (!has_known_bounds(node)) return box;
      for (std::size_t i = 0; i < box.size(); ++i) {
        const std::int64_t by = node->op() == Op::Pad ? -bound(node, 1, i) : bound(node, 1, i);
        if (box[i].size() == 0) continue;
        // At least one element is kept, even if none is needed.
        const std::int64_t begin = std::clamp(needed[i].begin + by, box[i].begin, box[i].end - 1);
        box[i] = {begin, std::clamp(needed[i].end + by, begin + 1, box[i].end)};
      }
      return box;
    }
    default:  // EXPAND, DETACH and elementwise ops
      for (std::size_t i = 0; i < box.size(); ++i)
        if (source->dims()[i] == node->dims()[i]) box[i] = needed[i];
      return box;
  }
}

// --- The restricted graph ------------------------------------------------------------------------

class RegionInference {
 public:
  explicit RegionInference(const std::vector<UOp>& tensors)
      : tensors_(tensors), order_(toposort(nodes_of(tensors))), boxes_(order_.size()) {
    for (std::size_t i = 0; i < order_.size(); ++i) number_.set(order_[i], i);
  }

  std::vector<UOp> all() {
    const auto is_part = [](const Node* node) { return node->op() == Op::Shrink; };
    if (std::ranges::none_of(order_, is_part) || !find_restrictions()) return tensors_;
    for (std::size_t i = 0; i < order_.size(); ++i) made_.push_back(made(i));
    std::vector<UOp> result;
    for (const UOp& tensor : tensors_) result.push_back(made_[place(tensor.node())].value);
    return result;
  }

 private:
  // A new value, and the box of the original node that it holds.
  struct Restricted {
    UOp value;
    Box box;
  };

  std::size_t place(const Node* node) const { return *number_.find(node); }

  void need(const Node* node, const Box& box) {
    Box& known = boxes_[place(node)];
    known = known.empty() ? box : hull(known, box);
  }

  // Finds the needed box of every node, and the nodes to restrict: reductions of which much less
  // than the whole is needed, and partly needed nodes above these. Returns whether there are any.
  bool find_restrictions() {
    for (const UOp& tensor : tensors_)
      if (tensor->shape() != nullptr) need(tensor.node(), whole(tensor.node()));
    for (std::size_t i = order_.size(); i-- > 0;) {
      const Node* node = order_[i];
      for (const Node* source : node->src())
        if (source->shape() != nullptr)
          need(source,
               propagates_region(node) ? needed_of_source(node, source, boxes_[i]) : whole(source));
    }
    bool found = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Node* node = order_[i];
      const bool is_part = propagates_region(node) && boxes_[i] != whole(node);
      const bool is_work = is_part && node->op() == Op::Reduce && is_much_less(node, boxes_[i]);
      const bool is_below = std::ranges::any_of(
          node->src(), [&](const Node* source) { return is_restricted_[place(source)]; });
      is_restricted_.push_back(is_work || (is_part && is_below));
      found = found || is_restricted_.back();
    }
    return found;
  }

  UOp part(const Node* source, const Box& box) const {
    const Restricted& made = made_[place(source)];
    if (source->shape() == nullptr || box == made.box) return made.value;
    Sizes start, sizes = sizes_of(made.value);
    for (std::size_t i = 0; i < box.size(); ++i) {
      start.push_back(const_int(box[i].begin - made.box[i].begin));
      if (box[i] != made.box[i]) sizes[i] = const_int(box[i].size());
    }
    return shrink(made.value, start, sizes);
  }

  Restricted made(std::size_t i) {
    const Node* node = order_[i];
    if (node->shape() == nullptr) return {with_new_sources(node), {}};
    const bool is_same = std::ranges::all_of(node->src(), [&](const Node* source) {
      return made_[place(source)].value.node() == source;
    });
    if (!is_restricted_[i] && is_same) return {UOp(node), whole(node)};
    if (!propagates_region(node)) return {with_new_sources(node), whole(node)};
    Restricted result = restricted_node(node, is_restricted_[i] ? boxes_[i] : whole(node));
    Interner::current().inherit(result.value.node(), node, Interner::current());
    return result;
  }

  UOp with_new_sources(const Node* node) const {
    std::vector<UOp> sources;
    for (const Node* source : node->src()) sources.push_back(made_[place(source)].value);
    return with_sources(UOp(node), sources);
  }

  // Returns the sizes of the box. An axis of unknown size stays whole.
  static Sizes sizes(const Node* node, const Box& box) {
    Sizes result = sizes_of(UOp(node));
    for (std::size_t i = 0; i < box.size(); ++i)
      if (result[i]->is_const()) result[i] = const_int(box[i].size());
    return result;
  }

  Restricted restricted_node(const Node* node, const Box& box) const {
    std::vector<UOp> sources;
    for (const Node* source : node->src())
      sources.push_back(part(source, needed_of_source(node, source, box)));
    switch (node->op()) {
      case Op::Reshape: {
        const Box result = reshaped(node, box).result;
        return {reshape(sources[0], sizes(node, result)), result};
      }
      case Op::Expand: return {expand(sources[0], sizes(node, box)), box};
      case Op::Pad:
      case Op::Shrink:
        if (!has_known_bounds(node)) return {with_new_sources(node), whole(node)};
        return {node->op() == Op::Pad ? padded(node, box) : shrunk(node, box), box};
      default: return {with_sources(UOp(node), sources), box};
    }
  }

  UOp shrunk(const Node* node, const Box& box) const {
    const Box inner = needed_of_source(node, node->src(0), box);
    Sizes start;
    for (std::size_t i = 0; i < box.size(); ++i)
      start.push_back(const_int(box[i].begin + bound(node, 1, i) - inner[i].begin));
    return shrink(part(node->src(0), inner), start, sizes(node, box));
  }

  UOp padded(const Node* node, const Box& box) const {
    const Node* source = node->src(0);
    const Box inner = needed_of_source(node, source, box);
    Sizes before, after, start, kept;
    for (std::size_t i = 0; i < box.size(); ++i) {
      if (!node->dims()[i]->is_const()) {
        before.push_back(UOp(node->src(1)->src(i)));
        after.push_back(UOp(node->src(2)->src(i)));
        start.push_back(const_int(0));
        kept.push_back(UOp(node->dims()[i]));
        continue;
      }
      const std::int64_t first = inner[i].begin + bound(node, 1, i),
                         last = inner[i].end + bound(node, 1, i);
      before.push_back(const_int(std::max<std::int64_t>(0, first - box[i].begin)));
      after.push_back(const_int(std::max<std::int64_t>(0, box[i].end - last)));
      start.push_back(const_int(std::max<std::int64_t>(0, box[i].begin - first)));
      kept.push_back(const_int(box[i].size()));
    }
    return shrink(pad(part(source, inner), before, after), start, kept);
  }

  const std::vector<UOp>& tensors_;
  std::vector<const Node*> order_;
  std::vector<Box> boxes_;  // like is_restricted_ and made_, by position in order_
  std::vector<bool> is_restricted_;
  std::vector<Restricted> made_;
  NodeMap<std::size_t> number_;
};

}  // namespace

std::vector<UOp> with_needed_regions(const std::vector<UOp>& tensors) {
  return RegionInference(tensors).all();
}

}  // namespace weft
