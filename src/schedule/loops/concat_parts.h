// Recognises the graph of Tensor::cat: two padded halves, and a WHERE whose mask is true where the
// first half is. Each half may be a concat itself.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// The parts of a concat along one axis; empty if the node is not a concat.
struct ConcatParts {
  std::size_t axis = 0;
  std::vector<const Node*> parts;
};

ConcatParts concat_parts_of(const Node* node);

// Returns whether a mask is the constant true below movement ops other than PAD.
bool is_true_inside(const Node* mask);

}  // namespace weft
