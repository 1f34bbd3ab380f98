// Threads, prefetches and stages for kernels of any form.
#pragma once

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>
#include <weft/dev/device/target.h>

#include "schedule/actions/kernel_loops.h"

namespace weft {

// Returns into how many parts to split a loop for threads: several per worker, for load balance.
// Returns 1 if the split would be uneven and elements may not be computed twice.
std::int64_t thread_parts(std::int64_t iterations, int workers, bool may_repeat);

constexpr double worth_threads = 6e-6;  // seconds of work

// Whether threads may share a loop and none of them repeats a reduction or a fill of the others.
bool worth_parallelising(const Node* end, const Node* range);

// Splits the kernel's outermost loop among threads if there is enough work.
Schedule parallelise_outermost(const KernelLoops& loops, const DeviceModel& machine);

// Prefetches a read of the outermost loop's next iteration if memory would idle during this one.
Schedule prefetch_next_reads(const KernelLoops& loops, const DeviceModel& machine);

// Prefetches the next iteration's windows from buffers larger than the L2 cache, if an iteration
// has more instructions than the processor runs out of order.
Schedule prefetch_windows(const Nest& nest, const DeviceModel& machine);

// Stages operands of reductions that other loops compute again, if reading them back is cheaper.
Schedule values_to_stage(const Node* kernel, const Target& target);

}  // namespace weft
