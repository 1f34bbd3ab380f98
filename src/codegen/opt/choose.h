// The schedule that the cost model expects to be fastest.
#pragma once

#include <weft/dev/codegen/actions.h>
#include <weft/dev/codegen/candidates.h>
#include <weft/dev/device/target.h>

namespace weft {

Schedule choose_schedule(const Node* kernel, const Target& target);
// Up to `most` that differ, the fastest first: it is the one that choose_schedule() gives.
std::vector<Schedule> best_schedules(const Node* kernel, const Target& target, std::size_t most);

}  // namespace weft
