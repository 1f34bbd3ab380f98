// Steps that a loop repeats, planned for themselves: which kernels one of them is.
#pragma once

#include <memory>
#include <vector>

#include "fuse.h"

namespace weft {

// What a step makes, and the row of memory that takes it.
struct StepRow {
  UOp made;          // a leaf of the steps' own graph
  std::size_t into;  // which of what the steps are given
  UOp row;
};

struct StepLoop {
  UOp trip;  // a VARIABLE
  std::int64_t trips;
  std::vector<UOp> given;  // leaves, as the steps know them
  std::vector<StepRow> rows;
  CutGraph graph;
  Fusion fusion;

  Work work() const;
};

// Of an END over PARAMs (rolled.h), and what these stand for.
std::shared_ptr<const StepLoop> planned(const UOp& steps, const std::vector<UOp>& given,
                                        Symbol device, const Profile& profile);

// One kernel for all trips of a loop; what it is given now lies in these slots.
Step step_of(const StepLoop& loop, const std::vector<std::uint32_t>& given, Plan& plan);

// Loops whose trips threads are better to share, by the model of kernels, become a call for each trip and kernel.
void share_trips(Plan& plan, const KernelSeconds& seconds);

}  // namespace weft
