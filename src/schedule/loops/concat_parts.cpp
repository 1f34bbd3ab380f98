#include "concat_parts.h"

#include <algorithm>
#include <optional>

#include "graph/reshape.h"

namespace weft {
namespace {

bool is_not_zero(const Node* size) { return !size->is_const_int(0); }

// Returns the axis of the only size that is not 0; nothing if there is none or more than one.
std::optional<std::size_t> only_axis(const Node* sizes) {
  const NodeList all = sizes->src();
  if (std::ranges::count_if(all, is_not_zero) != 1) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::find_if(all, is_not_zero) - all.begin());
}

// Returns the axis along which a node is a concat of two parts; nothing if it is none.
std::optional<std::size_t> concat_axis(const Node* node) {
  const auto is_pad = [](const Node* source) { return source->op() == Op::Pad; };
  if (node->op() != Op::Where || !std::ranges::all_of(node->src(), is_pad)) return std::nullopt;
  const Node *mask = node->src(0), *front = node->src(1), *back = node->src(2);
  const auto behind = only_axis(front->src(2)), before = only_axis(back->src(1));
  const auto is_none = [](const Node* sizes) {
    return std::ranges::none_of(sizes->src(), is_not_zero);
  };
  const bool fits = behind && behind == before && is_none(front->src(1)) && is_none(back->src(2)) &&
                    is_true_inside(mask->src(0)) && mask->src(1) == front->src(1) &&
                    mask->src(2) == front->src(2) &&
                    back->src(1)->src(*before) == front->src(0)->dims()[*before];
  return fits ? behind : std::nullopt;
}

void add_parts(const Node* node, ConcatParts& join) {
  if (concat_axis(node) != join.axis) return join.parts.push_back(node);
  for (const std::size_t side : {1, 2}) add_parts(node->src(side)->src(0), join);
}

}  // namespace

bool is_true_inside(const Node* mask) {
  while (is_movement(mask) && mask->op() != Op::Pad) mask = mask->src(0);
  return mask->is_const_int(1);
}

ConcatParts concat_parts_of(const Node* node) {
  ConcatParts join;
  const auto axis = concat_axis(node);
  if (!axis) return join;
  join.axis = *axis;
  add_parts(node, join);
  return join;
}

}  // namespace weft
