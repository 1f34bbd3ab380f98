// What Tensor::cat joins: half beside half, each chosen by a mask that is true where the first half is.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// Parts along one axis; none where the node joins nothing.
struct ConcatParts {
  std::size_t axis = 0;
  std::vector<const Node*> parts;
};

ConcatParts concat_parts_of(const Node* node);

// A mask that only a PAD can make false.
bool is_true_inside(const Node* mask);

}  // namespace weft
