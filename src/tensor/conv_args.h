// What convolutions and transposed convolutions are given.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/tensor.h>

namespace weft {

// `weight_axes` says what the first two of the weight's axes are.
void want_convolution(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                      std::int64_t groups, std::int64_t in, std::int64_t out,
                      const char* weight_axes);
void want_rank(const char* op, const Tensor& weight, std::int64_t spatial);

bool is_single(const Tensor& x, const Tensor& weight);  // without a batch
std::vector<std::int64_t> kernel_of(const Tensor& weight);
Tensor with_bias(const Tensor& sum, const Tensor& bias);  // of each channel; a null one is none

}  // namespace weft
