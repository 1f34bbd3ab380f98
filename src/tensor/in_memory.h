// Tensors as memory.
#pragma once

#include <weft/dev/tensor/recorded.h>

namespace weft {

// A tensor's elements; they are computed and put in order, in one piece, if need be.
Elements elements_in_memory(Tensor tensor);

}  // namespace weft
