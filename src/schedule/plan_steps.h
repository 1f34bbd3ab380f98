// Helpers for passes that rewrite the steps of a plan.
#pragma once

#include <functional>
#include <span>

#include <weft/dev/schedule/plan.h>

namespace weft {

// Names the kernel after the sizes of its loops: "r_64_32" reduces 32 for each of 64 elements,
// "e_64" is elementwise.
UOp with_size_name(const UOp& kernel);

// Returns the END of the stores in the loops. Those of size 1 may be 0 instead of a RANGE.
UOp loop_nest(const std::vector<UOp>& stores, NodeList loops);

// Returns whether one of these ops is at or below the node.
bool contains_op(const Node* root, OpSet ops);

// Returns the plan's slot of a PARAM.
std::uint32_t slot_of(const Step& step, const Node* param);
// Returns the PARAM with another number.
UOp with_number(const Node* param, std::size_t number);

// Returns for each slot whether it is internal to the plan: neither an input nor visible in a root.
std::vector<bool> internal_slots(const Plan& plan);

// Returns the size of a BUFFER, PARAM or STAGE. Symbolic sizes count at their maximum.
double memory_bytes(const UOp& memory);

// Returns the predicted time of the steps, with this overhead; nothing if a kernel is unknown to the
// model.
std::optional<double> seconds_of(std::span<const Step> steps, const KernelSeconds& seconds,
                                 double overhead);

// Counts operations on floats that the node needs.
double flops_of(const Node* node);

// The same of a kernel whose loops carry its scans, and the bytes of each PARAM once.
Work work_of(const UOp& kernel);

// Replaces each step by those that the function returns; none if it should stay.
void replace_steps(Plan& plan, const std::function<std::vector<Step>(const Step&)>& steps_for);

// Returns a step for another kernel on the same device. The PARAMs of `kernel` index `slots`; they
// are renumbered to the slots of the new step, written ones first.
Step step_like(const Step& step, const UOp& kernel, const std::vector<std::uint32_t>& slots);

}  // namespace weft
