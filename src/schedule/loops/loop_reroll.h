// Re-rolls steps that a program repeats into a loop.
#pragma once

#include <vector>

#include <weft/dev/schedule/plan.h>

namespace weft {

// Replaces each run of similar steps, in which a step depends on the previous one, by
//   AFTER(memory, CALL(END(STORE ..., RANGE), memory ..., inputs ...))
// The END refers to memory and inputs through PARAMs. Memory holds the values that a step takes
// from the previous one or that are read outside the loop, with a row per step along its first
// axis: iteration t reads row t and stores row t + 1. If only the last row is read outside, two
// rows alternate.
std::vector<Root> with_loops_rerolled(const std::vector<Root>& roots);

}  // namespace weft
