// Plans re-rolled loops: a single step is partitioned and fused by itself.
#pragma once

#include <memory>
#include <vector>

#include "fusion/fusion.h"

namespace weft {

// A value that a step computes, and the row of memory that it is stored in.
struct StepRow {
  UOp made;          // a placeholder of the loop's partition
  std::size_t into;  // index of the memory in StepLoop::given
  UOp row;
};

struct StepLoop {
  UOp iteration;  // a VARIABLE
  std::int64_t iterations;
  std::vector<UOp> given;  // placeholders of memory and inputs
  std::vector<StepRow> rows;
  Partition partition;
  Fusion fusion;

  Work work() const;
};

// Plans one step of an END over PARAMs (loop_reroll.h); `given` are their placeholders, by slot.
std::shared_ptr<const StepLoop> plan_step_loop(const UOp& steps, const std::vector<UOp>& given,
                                               Symbol device, const Target& target);

// Returns a step that runs all iterations in one kernel. `given` are the slots of loop.given.
Step loop_step(const StepLoop& loop, const std::vector<std::uint32_t>& given, Plan& plan);

// Replaces a loop by a call for each iteration and kernel, so that threads share the work of an
// iteration, if the model predicts that to be faster.
void share_iterations(Plan& plan, const KernelSeconds& seconds);

}  // namespace weft
