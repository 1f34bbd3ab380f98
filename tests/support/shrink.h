// Makes a failing expression small: the case that a person then reads.
#pragma once

#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

namespace shrinking {

inline std::size_t size_of(const UOp& root) {
  std::size_t size = 0;
  for (const Node* node : toposort(root.node())) {
    size += 64;
    if (node->is_const()) {
      std::int64_t value = static_cast<std::int64_t>(node->arg<ConstArg>().bits);
      if (value < 0) ++size, value = ~value;
      for (; value != 0; value /= 2) ++size;
    }
  }
  return size;
}

// What may stand in the node's place.
inline std::vector<UOp> simpler(const Node* node) {
  std::vector<UOp> result;
  const DType dtype = node->dtype();
  for (const Node* source : node->src())
    if (source->dtype() == dtype) result.emplace_back(source);
  if (!dtype.is_int() && !dtype.is_bool()) return result;
  for (std::int64_t value : {0, 1, 2}) result.push_back(const_int(value, dtype));
  if (node->is_const()) {
    const std::int64_t value = node->lo();
    for (std::int64_t smaller : {value / 2, value / 3, value - 1, value + 1})
      result.push_back(const_int(smaller, dtype));
  }
  return result;
}

}  // namespace shrinking

// Replaces nodes by simpler ones for as long as `fails` still holds, and patience does.
template <class Fails>
UOp shrink(UOp root, Fails fails, int tries = 3000) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    const auto take = [&](const UOp& candidate) {
      if (shrinking::size_of(candidate) >= shrinking::size_of(root) || --tries < 0 ||
          !fails(candidate))
        return false;
      root = candidate;
      return smaller = true;
    };
    for (const Node* source : root->src())
      if (take(UOp(source))) break;
    std::vector<const Node*> nodes = toposort(root.node());
    for (auto node = nodes.rbegin(); node != nodes.rend() && !smaller; ++node)
      for (const UOp& other : shrinking::simpler(*node))
        if (take(substitute(root, {{*node, other}}))) break;
  }
  return root;
}

}  // namespace weft
