// Steps of a plan that are made of others.
#pragma once

#include <weft/dev/schedule/plan.h>

namespace weft {

// The kernel by the sizes of its loops: "r_64_32", a reduction over 32 for each of 64 elements; "e_64", elementwise.
UOp named(const UOp& kernel);

// By slot: made by the plan's own kernels, and nobody else looks at it.
std::vector<bool> own_slots(const Plan& plan);

// Of all elements of a BUFFER, a PARAM or a STAGE.
double memory_bytes(const UOp& memory);

// Operations on floats, and the bytes of all that it touches, once.
Work work_of(const UOp& kernel);

// For the same device. The kernel's PARAMs are numbers of `slots`; it gets numbers of its own, what is written first.
Step step_like(const Step& step, const UOp& kernel, const std::vector<std::uint32_t>& slots);

}  // namespace weft
