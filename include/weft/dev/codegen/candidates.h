// Schedules that are worth measuring.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>

namespace weft {

// Returns up to `most` different schedules of a kernel as the pass `optimise` receives it, the
// fastest by the cost model first. The first is the one that the pass would choose.
std::vector<Schedule> candidate_schedules(const UOp& kernel, const Target& target,
                                          std::size_t most);

// Returns the schedules that differ from one in a tile size, in the order of two loops, or in a
// STAGE. Some of them cannot be applied. A kernel with a scan has none.
std::vector<Schedule> neighbours(const UOp& kernel, const Schedule& schedule);

}  // namespace weft
