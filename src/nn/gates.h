// The weights of a recurrent cell.
#pragma once

#include <weft/nn/recurrent.h>

#include "parameters.h"

namespace weft::nn {

// With proj_size, h is that wide.
GateWeights gate_weights(std::int64_t gates, std::int64_t input_size, std::int64_t hidden_size,
                         bool has_bias, const Options& options, std::int64_t proj_size = 0);

}  // namespace weft::nn
