// Values that depend on indices alone, such as a mask by the distance of two positions. If they
// take few instructions, recomputing them is faster than reading them from memory.
#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// The most ops of one instruction each that are recomputed.
constexpr int most_recomputed_ops = 16;
bool is_one_instruction(Op op);
// Returns the approximate number of ops that a node becomes in code. It is more than one for
// functions that are expanded (codegen/arithmetic/transcendental.h), and for a WHERE that
// concatenates padded parts, each of which gets a loop of its own.
int code_size(const Node* node);

// Whether a tensor reads no memory and takes at most most_recomputed_ops such ops.
bool is_cheaper_to_recompute(const Node* tensor);

}  // namespace weft
