// How the input of a convolution lies in memory for instructions that multiply matrices.
#pragma once

#include "op.h"

namespace weft::onnx {

// All channels of a place lie together, in memory of their own.
Tensor place_by_place(const Tensor& x);

// The same of few channels, with some of zeros: four are multiplied at once.
void gather_channels(Tensor& x, Tensor& weight);

}  // namespace weft::onnx
