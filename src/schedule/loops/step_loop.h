// Steps that a loop repeats, planned for themselves: which kernels one of them is.
#pragma once

#include <memory>
#include <vector>

#include "fusion/fusion.h"

namespace weft {

// What a step makes, and the row of memory that takes it.
struct StepRow {
  UOp made;          // a placeholder of the steps' own partition
  std::size_t into;  // which of what the steps are given
  UOp row;
};

struct StepLoop {
  UOp iteration;  // a VARIABLE
  std::int64_t iterations;
  std::vector<UOp> given;  // placeholders, as the steps know them
  std::vector<StepRow> rows;
  Partition partition;
  Fusion fusion;

  Work work() const;
};

// Of an END over PARAMs (with_loops_rerolled.h), and what these stand for.
std::shared_ptr<const StepLoop> planned(const UOp& steps, const std::vector<UOp>& given,
                                        Symbol device, const Profile& profile);

// One kernel for all iterations of a loop; what it is given now lies in these slots.
Step step_of(const StepLoop& loop, const std::vector<std::uint32_t>& given, Plan& plan);

// Loops whose iterations threads are better to share, by the model of kernels, become a call for each iteration and kernel.
void share_iterations(Plan& plan, const KernelSeconds& seconds);

}  // namespace weft
