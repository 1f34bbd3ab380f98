// How much work a kernel has to do before a transformation of it is worth its while.
#pragma once

namespace weft {

// The limit; 0 with SIZE_LIMITS=0, by which tests with small tensors reach every transformation.
double least_work(double limit);

}  // namespace weft
