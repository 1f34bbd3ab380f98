// What it takes to stage what a nest reads.
#pragma once

#include <weft/dev/cost/nest.h>

namespace weft {

class Footprints;

double copy_cycles(const Machine& machine, const Nest& nest, const NestPlan& plan,
                   const Footprints& footprints);

// Seconds: what is kept takes memory, which only a gain of time is worth.
double price_of_kept(const Machine& machine, const Nest& nest, const NestPlan& plan);

}  // namespace weft
