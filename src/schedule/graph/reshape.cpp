#include "reshape.h"

#include <algorithm>

#include <weft/dev/ir/movement.h>
#include <weft/dev/rules/polynomial.h>

namespace weft {
namespace {

// A product of sizes. Symbolic factors are expanded, since (n + 1)*2 may have become n*2 + 2.
class Product {
 public:
  void multiply(const Node* size) {
    most_ *= static_cast<double>(size->bounds().hi);
    sizes_.push_back(size);
    std::int64_t product = 0;
    if (size->is_const() && !__builtin_mul_overflow(number_, size->lo(), &product))
      number_ = product;
    else
      symbols_ = symbols_.value_or(Polynomial(1)) * Polynomial::of(size);
  }
  // Of two unequal products, the smaller one takes the next size.
  bool is_shorter_than(const Product& other) const { return most_ < other.most_; }
  friend bool operator==(const Product& a, const Product& b) {
    if (!a.symbols_ && !b.symbols_) return a.number_ == b.number_;
    return a.sizes_ == b.sizes_ || a.whole() == b.whole();
  }

 private:
  Polynomial whole() const {
    return symbols_ ? *symbols_ * Polynomial(number_) : Polynomial(number_);
  }

  std::vector<const Node*> sizes_;
  double most_ = 1;
  std::int64_t number_ = 1;
  std::optional<Polynomial> symbols_;
};

UOp flattened(NodeList sizes, std::span<const UOp> indices) {
  UOp flat = const_int(0);
  for (std::size_t i = 0; i < sizes.size(); ++i) flat = flat * size_as_index(sizes[i]) + indices[i];
  return flat;
}

// The first axis takes the last quotient and needs no remainder.
std::vector<UOp> unflattened(UOp flat, NodeList sizes) {
  std::vector<UOp> indices(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const UOp size = size_as_index(sizes[i]);
    indices[i] = i == 0 ? flat : flat % size;
    flat = flat / size;
  }
  return indices;
}

// Returns the size if it is positive and known, else 0.
std::int64_t known_size(const Node* size) {
  const Interval bounds = size->bounds();
  return bounds.is_point() && bounds.lo > 0 ? size->lo() : 0;
}

}  // namespace

UOp size_as_index(const Node* size) {
  return size->is_const() ? const_int(size->lo()) : cast(UOp(size), dtypes::index);
}

UOp slice_of(const UOp& tensor, std::int64_t axis, const UOp& start, std::int64_t size) {
  Sizes first(tensor->dims().size(), const_int(0)), sizes = sizes_of(tensor);
  first[static_cast<std::size_t>(axis)] = start;
  sizes[static_cast<std::size_t>(axis)] = const_int(size);
  return shrink(tensor, first, sizes);
}

// Axes are matched in the smallest groups with equal products, so that an unchanged axis keeps its
// index, even if its size is symbolic.
std::vector<UOp> reshaped_indices(NodeList from, NodeList to, const std::vector<UOp>& indices) {
  std::vector<UOp> result;
  std::size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && from[i]->is_const_int(1)) {
      result.push_back(const_int(0));
      ++i;
      continue;
    }
    if (j < to.size() && to[j]->is_const_int(1)) {
      ++j;
      continue;
    }
    const std::size_t first_from = i, first_to = j;
    Product source, target;
    if (i < from.size()) source.multiply(from[i++]);
    if (j < to.size()) target.multiply(to[j++]);
    while (source != target && (i < from.size() || j < to.size())) {
      if (j == to.size() || (i < from.size() && source.is_shorter_than(target)))
        source.multiply(from[i++]);
      else
        target.multiply(to[j++]);
    }
    const NodeList sources = from.subspan(first_from, i - first_from);
    const auto own = std::span(indices).subspan(first_to, j - first_to);
    if (sources.size() == 1 && own.size() == 1) {
      result.push_back(own[0]);
      continue;
    }
    const UOp flat = flattened(to.subspan(first_to, j - first_to), own);
    for (const UOp& index : unflattened(flat, sources)) result.push_back(index);
  }
  return result;
}

std::optional<std::size_t> source_axis(const Node* view, std::size_t axis) {
  if (view->op() == Op::Permute)
    return static_cast<std::size_t>(view->arg<AxesArg>().axes.get()[axis]);
  if (view->op() == Op::Expand) return axis;
  const NodeList to = view->dims(), from = view->src(0)->dims();
  if (!have_known_sizes(to) || !have_known_sizes(from)) return std::nullopt;
  const Wide behind = elements_behind(to, axis);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] == to[axis] && elements_behind(from, i) == behind) return i;
  return std::nullopt;
}

bool repeats(const Node* view, std::size_t axis) {
  return view->op() == Op::Expand && view->src(0)->dims()[axis] != view->dims()[axis];
}

Wide elements_behind(NodeList dims, std::size_t axis) {
  Wide elements = 1;
  for (const Node* size : dims.subspan(axis + 1)) elements *= size->lo();
  return elements;
}

bool are_constants(NodeList sizes) { return std::ranges::all_of(sizes, &Node::is_const); }

bool has_known_bounds(const Node* node) {
  return std::ranges::all_of(node->src().subspan(1),
                             [](auto list) { return are_constants(list->src()); });
}

bool is_at_known_place(const Node* node) {
  return node->op() == Op::Shrink && are_constants(node->src(1)->src());
}

bool have_known_sizes(NodeList dims) {
  return std::ranges::all_of(dims, [](auto size) { return size->is_const() && size->lo() > 0; });
}

std::vector<AxisGroup> axis_groups(NodeList from, NodeList to) {
  std::vector<AxisGroup> groups;
  for (std::size_t i = 0, j = 0; i < from.size() || j < to.size();) {
    AxisGroup group{i, i, j, j};
    std::int64_t before = 1, after = 1;
    do {
      const bool takes = j == to.size() || (i < from.size() && before <= after);
      if (takes && i == from.size()) return groups;
      const std::int64_t size = known_size(takes ? from[i++] : to[j++]);
      if (size == 0) return groups;
      (takes ? before : after) *= size;
    } while (before != after);
    group.from_end = i;
    group.to_end = j;
    groups.push_back(group);
  }
  return groups;
}

}  // namespace weft
