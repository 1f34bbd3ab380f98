// A convolutional network that reads digits.
#pragma once

#include <cstdint>
#include <optional>

#include <weft/weft.h>

namespace models {

using namespace weft;

// A convolution that keeps the size, normalised over the batch.
struct ConvBlock {
  nn::Conv2d conv;
  std::optional<nn::BatchNorm2d> norm;

  ConvBlock(std::int64_t in, std::int64_t out, bool has_norm) : conv(in, out, 3, {.padding = 1}) {
    if (has_norm) norm.emplace(out);
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor y = conv(x);
    return (norm ? (*norm)(y) : y).relu();
  }
  WEFT_FIELDS(conv, norm);
};

// 28 x 28 pixels become 32, 64 and 128 maps of 28 x 28, 14 x 14 and 7 x 7, and these ten scores.
struct Mnist {
  ConvBlock block1, block2, block3;
  nn::Linear hidden{128 * 7 * 7, 256}, out{256, 10};

  explicit Mnist(bool has_norm = true)
      : block1(1, 32, has_norm), block2(32, 64, has_norm), block3(64, 128, has_norm) {}
  Tensor operator()(const Tensor& images) const {
    const Tensor x = images.to_float() / 255;
    const Tensor half = block1(x).max_pool2d();
    const Tensor quarter = block2(half).max_pool2d();
    return out(hidden(block3(quarter).flatten(1)).relu());
  }
  WEFT_FIELDS(block1, block2, block3, hidden, out);
};

}  // namespace models
