// Schedules that are worth measuring.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>

namespace weft {

// Of a kernel as the pass `optimise` gets it: up to `most` that differ, by the model the fastest first.
// The first is what the pass would choose.
std::vector<Schedule> candidate_schedules(const UOp& kernel, const Target& target,
                                          std::size_t most);

// Those that differ from one in a tile, a pair of loops or what is staged. Some cannot be applied.
std::vector<Schedule> neighbours(const UOp& kernel, const Schedule& schedule);

}  // namespace weft
