#include "concat_parts.h"

#include <algorithm>
#include <optional>

#include "loops/step_chains.h"

namespace weft {
namespace {

// Returns the axis of the only size that is not 0; nothing if there is none or more than one.
std::optional<std::size_t> only_axis(const Node* sizes) {
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    if (sizes->src(i)->is_const_int(0)) continue;
    if (axis) return std::nullopt;
    axis = i;
  }
  return axis;
}

bool add(const Node* node, ConcatParts& join, bool is_first) {
  const auto is_pad = [&](std::size_t i) { return node->src(i)->op() == Op::Pad; };
  if (node->op() != Op::Where || !is_pad(0) || !is_pad(1) || !is_pad(2)) {
    if (!is_first) join.parts.push_back(node);
    return !is_first;
  }
  const Node *mask = node->src(0), *front = node->src(1), *back = node->src(2);
  const auto behind = only_axis(front->src(2)), before = only_axis(back->src(1));
  const auto is_none = [](const Node* sizes) {
    return std::ranges::all_of(sizes->src(), [](auto size) { return size->is_const_int(0); });
  };
  const bool fits = behind && behind == before && is_none(front->src(1)) && is_none(back->src(2)) &&
                    is_true_inside(mask->src(0)) && mask->src(1) == front->src(1) &&
                    mask->src(2) == front->src(2) &&
                    back->src(1)->src(*before) == front->src(0)->dims()[*before];
  if (!fits || (!is_first && join.axis != *behind)) {
    if (!is_first) join.parts.push_back(node);
    return !is_first;
  }
  join.axis = *behind;
  return add(front->src(0), join, false) && add(back->src(0), join, false);
}

}  // namespace

bool is_true_inside(const Node* mask) {
  while (is_movement(mask) && mask->op() != Op::Pad) mask = mask->src(0);
  return mask->is_const_int(1);
}

ConcatParts concat_parts_of(const Node* node) {
  ConcatParts join;
  if (!add(node, join, true)) join.parts.clear();
  return join;
}

}  // namespace weft
