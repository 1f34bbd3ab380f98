// Chooses the schedule of a kernel by the cost model.
#pragma once

#include <optional>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>
#include <weft/dev/device/target.h>

namespace weft {

// Returns the schedule that the cost model expects to be fastest.
Schedule choose_schedule(const Node* kernel, const Target& target);

// Brings a kernel into the form whose loops schedules name: adjacent loops are merged, sums are
// widened to the dtype of their accumulators, and STAGEs become buffers that loops fill.
UOp ready_to_schedule(const UOp& kernel);

// Returns the schedule that the kernel itself names, otherwise the model's choice, or none with
// NOOPT=1. The kernel must come from ready_to_schedule().
Schedule schedule_of(const Node* kernel, const Target& target);
// Returns the kernel with a SINK that names this schedule.
UOp with_schedule(const UOp& kernel, const std::string& schedule);

// The model's choice for a kernel.
struct Choice {
  Schedule schedule = {};
  std::optional<double> seconds = {};  // nothing if the model does not know the form of some part
};

// Returns the model's choice; none if the kernel names a schedule, or with NOOPT=1.
Choice choice_of(const UOp& kernel, const Target& target);

// Returns the modelled time of the kernel with this schedule. Returns nothing if the kernel is not
// a single nest that the model knows, or if the schedule has an MMA or MERGE.
std::optional<NestTime> expected_time(const Node* kernel, const Schedule& schedule,
                                      const Target& target);

}  // namespace weft
