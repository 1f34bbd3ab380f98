// From tensors to values: schedules, compiles and runs what the tensors need.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// A tensor that is wanted in memory, and the device to compute it on where nothing it is made of
// says which.
struct Wanted {
  UOp tensor;
  Symbol device;
};

// Each as a BUFFER that holds it in row-major order, or the tensor itself where it only looks at
// memory that is there: a chain of movement ops over a BUFFER. Of a tensor in parts that is a MULTI of
// such. A node that was computed keeps its
// BUFFER: graphs that contain it read it from there from now on. The BUFFER of an AFTER that is wanted
// is a new one over the same memory, and the one before has lost its values.
std::vector<UOp> realize(const std::vector<Wanted>& wanted);

// The BUFFER that a node was computed into; null where it was not.
UOp computed(const Node* node);
// The same, unless it is on another device only because the node was wanted there before: nothing that
// the node is made of says where it is.
UOp computed_for(const Node* node, Symbol device);

}  // namespace weft
