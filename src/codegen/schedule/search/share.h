#pragma once

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>
#include <weft/dev/device/target.h>

#include "schedule/actions/kernel_loops.h"

namespace weft {

// In how many parts threads share the iterations of a loop, so that none waits long for the last: 1 where
// that would take elements to be computed twice, and they may not.
std::int64_t parts_for(std::int64_t iterations, int workers, bool may_repeat);

constexpr double worth_threads = 6e-6;  // seconds of work

// Whether threads may share a loop's iterations, and none computes what all of them need.
bool gains_by_threads(const Node* end, const Node* range);

// The kernel's outermost loop for all threads, where there is work enough.
Schedule share_outermost(const KernelLoops& loops, const Machine& machine);

// What the next iteration of a loop reads, where memory idles while this one computes.
Schedule reads_ahead(const KernelLoops& loops, const Machine& machine);

// The windows that are next of memory that the second cache does not hold, where a iteration computes more than a processor
// looks ahead: it would wait for each of them.
Schedule windows_ahead(const Nest& nest, const Machine& machine);

// Values that more than one loop computes, where memory is faster.
Schedule values_to_stage(const Node* kernel, const Target& target);

}  // namespace weft
