// Selects which values of a quantised matrix to prepack: what is read, or what is computed from it
// if that takes no more memory.
#pragma once

#include <vector>

#include "quantized_gemv.h"

namespace weft {

// Returns values from which everything in the code, scale, shift and offset that changes with the
// row can be computed.
std::vector<const Node*> prepacked_weights(const QuantizedGemv& sum);

}  // namespace weft
