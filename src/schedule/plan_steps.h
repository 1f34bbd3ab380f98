// Helpers for passes that rewrite the steps of a plan.
#pragma once

#include <weft/dev/schedule/plan.h>

namespace weft {

// Names the kernel after the sizes of its loops: "r_64_32" reduces 32 for each of 64 elements,
// "e_64" is elementwise.
UOp with_size_name(const UOp& kernel);

// Returns for each slot whether it is internal to the plan: neither an input nor visible in a root.
std::vector<bool> internal_slots(const Plan& plan);

// Returns the size of a BUFFER, PARAM or STAGE. Symbolic sizes count at their maximum.
double memory_bytes(const UOp& memory);

// Counts operations on floats, and the bytes of each PARAM once.
Work work_of(const UOp& kernel);

// Returns a step for another kernel on the same device. The PARAMs of `kernel` index `slots`; they
// are renumbered to the slots of the new step, written ones first.
Step step_like(const Step& step, const UOp& kernel, const std::vector<std::uint32_t>& slots);

}  // namespace weft
