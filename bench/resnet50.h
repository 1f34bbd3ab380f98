// ResNet-50's forward pass at batch 1, over weights that nobody has filled in.
#pragma once

#include <vector>

#include <weft/weft.h>

namespace weft::bench {

inline Tensor weight(const Shape& shape) { return Tensor::empty(shape); }

inline Tensor convolution(const Tensor& x, std::int64_t out, std::int64_t kernel,
                          std::int64_t stride) {
  const std::int64_t in = x.size(1);
  const Tensor y = x.conv2d(weight({out, in, kernel, kernel}), {}, 1, stride, 1, kernel / 2);
  return y.batchnorm(weight({out}), weight({out}), weight({out}), (weight({out}) + 1e-5).rsqrt());
}

inline Tensor bottleneck(const Tensor& x, std::int64_t planes, std::int64_t stride) {
  const Tensor y = convolution(convolution(x, planes, 1, 1).relu(), planes, 3, stride).relu();
  const bool same = stride == 1 && x.size(1) == 4 * planes;
  const Tensor side = same ? x : convolution(x, 4 * planes, 1, stride);
  return (convolution(y, 4 * planes, 1, 1) + side).relu();
}

inline std::vector<Tensor> resnet50() {
  Tensor x = convolution(weight({1, 3, 224, 224}), 64, 7, 2).relu().max_pool2d({3, 3}, 2, 1, 1);
  const std::int64_t blocks[] = {3, 4, 6, 3};
  for (std::int64_t stage = 0; stage < 4; ++stage)
    for (std::int64_t block = 0; block < blocks[stage]; ++block)
      x = bottleneck(x, 64 << stage, stage > 0 && block == 0 ? 2 : 1);
  return {x.mean({2, 3}).linear(weight({2048, 1000}), weight({1000}))};
}

}  // namespace weft::bench
