// Tensors from and for other libraries in the same process, through DLPack: no values are copied. Its structs
// are those of <dlpack/dlpack.h>.
#pragma once

#include <weft/tensor.h>

struct DLManagedTensor;

namespace weft {

// Takes over what another library made, in the memory of the CPU: its deleter is called when the last
// tensor that looks at the memory is gone. Strides may be any that movement can express.
Tensor from_dlpack(DLManagedTensor* managed);

// Computes the tensor if need be. Where it is not in the CPU's memory, or is no plain view of it, the other library
// gets a copy. Whoever takes it calls its deleter.
DLManagedTensor* to_dlpack(const Tensor& tensor);

}  // namespace weft
