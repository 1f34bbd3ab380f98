// Values that follow from places alone, as a mask by the distance of two indices does: a few comparisons take less time than
// memory takes to read.
#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// Of ops that take one instruction each.
constexpr int most_ops_of_places = 16;
bool is_one_instruction(Op op);
// How many an op becomes, about, where a device has no instruction for it (codegen/transcendental.h), or where it joins
// parts: each is a loop of its own.
int code_of(const Node* node);

// Whether a tensor reads no memory, and takes no more than those.
bool is_rather_computed(const Node* tensor);

}  // namespace weft
