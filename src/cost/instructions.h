// What a nest of loops computes.
#pragma once

#include <weft/dev/cost/nest.h>

namespace weft {

// Of all iterations, by one worker, but for what it waits for.
double compute_cycles(const Machine& machine, const Nest& nest, const NestPlan& plan);

}  // namespace weft
