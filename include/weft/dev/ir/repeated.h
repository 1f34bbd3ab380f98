// Kernels that do the same again and again, where each time needs the one before: SINK(END(END(...)
// ..., RANGE)). A STORE alone stands in an END of no loops, since the iterations of END(STORE, RANGE) do not need
// each other.
#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// The RANGE around everything that such a kernel does; null for others.
const Node* loop_around(const Node* kernel);

// What it does in one iteration: the number of the iteration is a VARIABLE.
UOp strip_loop(const UOp& kernel);
// That VARIABLE of a kernel; null where there is none.
const Node* iteration_in(const Node* kernel);
// Each thing that it does in an iteration comes after those before it that write what it reads.
UOp in_order(const UOp& kernel);
// The kernel that does all iterations, made of one that does one.
UOp restore_loop(const UOp& kernel);

// In place of it a kernel for each thing that it does in an iteration, in order: called for all
// values of its variable.
std::vector<UOp> calls_of_iteration(const UOp& kernel);
// Whether it is such a kernel, or does one iteration: what it touches the one before has touched.
bool finds_what_it_left(const Node* kernel);

}  // namespace weft
