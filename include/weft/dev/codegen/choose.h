// The schedule of a kernel, and what the cost model says of it.
#pragma once

#include <optional>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>
#include <weft/dev/device/target.h>

namespace weft {

// The one that the cost model expects to be fastest.
Schedule choose_schedule(const Node* kernel, const Target& target);

// The kernel whose loops schedules name: neighbours are one loop, sums as wide as what adds them, and
// what is staged is filled by loops.
UOp ready_to_schedule(const UOp& kernel);

// What the kernel itself asks for, else the model's choice; none with NOOPT=1. The kernel is one
// that is ready.
Schedule schedule_of(const Node* kernel, const Target& target);
// The kernel as one that asks for this.
UOp with_schedule(const UOp& kernel, const std::string& schedule);

// How long a kernel takes by the model with that; nothing where part of it is of a form that the model does not know.
std::optional<double> seconds_of_choice(const UOp& kernel, const Target& target);

// How long the kernel takes by the model; nothing where it is of a form that the model does not know.
std::optional<NestTime> expected_time(const Node* kernel, const Schedule& schedule,
                                      const Target& target);

}  // namespace weft
