// Convolutions. Their weights are (out, in / groups, sizes ...), transposed ones' (in, out / groups, sizes
// ...), and begin uniform within 1 / sqrt(inputs of one output).
#pragma once

#include <cstdint>
#include <string>

#include <weft/fields.h>

namespace weft::nn {

struct ConvOptions {
  PerDim stride = 1;
  Padding padding = 0;
  PerDim dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  PadMode padding_mode = PadMode::Constant;  // of zeros
  DType dtype = {};
  std::string device = {};
};

template <std::size_t Dims>
struct Conv {
  Tensor weight, bias;
  ConvOptions options;

  Conv(std::int64_t in_channels, std::int64_t out_channels, const PerDim& kernel_size,
       const ConvOptions& given = {});
  // x (batch, in, sizes ...), or without batch.
  Tensor operator()(const Tensor& x) const;
  WEFT_FIELDS(weight, bias);
};
extern template struct Conv<1>;
extern template struct Conv<2>;
extern template struct Conv<3>;
using Conv1d = Conv<1>;
using Conv2d = Conv<2>;
using Conv3d = Conv<3>;

struct ConvTransposeOptions {
  PerDim stride = 1;
  Padding padding = 0;
  PerDim output_padding = 0;
  std::int64_t groups = 1;
  bool bias = true;
  PerDim dilation = 1;
  DType dtype = {};
  std::string device = {};
};

template <std::size_t Dims>
struct ConvTranspose {
  Tensor weight, bias;
  ConvTransposeOptions options;

  ConvTranspose(std::int64_t in_channels, std::int64_t out_channels, const PerDim& kernel_size,
                const ConvTransposeOptions& given = {});
  Tensor operator()(const Tensor& x) const;
  WEFT_FIELDS(weight, bias);
};
extern template struct ConvTranspose<1>;
extern template struct ConvTranspose<2>;
extern template struct ConvTranspose<3>;
using ConvTranspose1d = ConvTranspose<1>;
using ConvTranspose2d = ConvTranspose<2>;
using ConvTranspose3d = ConvTranspose<3>;

}  // namespace weft::nn
