// Steps that a program repeats, as a loop.
#pragma once

#include <vector>

#include <weft/dev/schedule/plan.h>

namespace weft {

// The roots with each stretch of steps that are alike, and where each needs the one before, as
//   AFTER(memory, CALL(END(STORE ..., RANGE), memory ..., inputs ...))
// The END is over PARAMs, the first of them the memory: what a step hands on and what others read of it, along its first
// axis by step. In iteration t a step reads row t and stores row t + 1. Memory of which nobody else reads more than the last
// row has two, which take turns.
std::vector<Root> with_loops_rerolled(const std::vector<Root>& roots);

}  // namespace weft
