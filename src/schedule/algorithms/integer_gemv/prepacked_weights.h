// What of a matrix of codes lies in memory: read as it is, or computed once where that takes no more of it.
#pragma once

#include <vector>

#include "quantized_gemv.h"

namespace weft {

// Of code, scale and offset, all that changes with the row is computed of these.
std::vector<const Node*> prepacked_weights(const QuantizedGemv& sum);

}  // namespace weft
