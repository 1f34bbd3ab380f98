// Networks of convolutions, over weights that nobody has filled in: what they take, not what they say.
#pragma once

#include <vector>

#include <weft/weft.h>

namespace weft::bench {

inline Tensor weight(const Shape& shape) { return Tensor::empty(shape); }

struct ConvolutionNetwork {
  bool is_training = false;      // statistics of the batch, gradients
  bool is_checkpointed = false;  // block by block
  std::vector<Tensor> parameters = {};

  Tensor parameter(const Shape& shape) {
    if (!is_training) return weight(shape);
    parameters.push_back(Tensor::empty(shape, {.requires_grad = true}));
    return parameters.back();
  }
  Tensor norm(const Tensor& y) {
    const std::int64_t channels = y.size(1);
    const Tensor scale = parameter({channels}), shift = parameter({channels});
    if (is_training) {
      const Tensor mean = y.mean({0, 2, 3}), centred = y - mean.reshape({1, channels, 1, 1});
      return y.batchnorm(scale, shift, mean, (centred.square().mean({0, 2, 3}) + 1e-5).rsqrt());
    }
    return y.batchnorm(scale, shift, weight({channels}), (weight({channels}) + 1e-5).rsqrt());
  }
  Tensor convolution(const Tensor& x, std::int64_t out, std::int64_t kernel,
                     std::int64_t stride = 1) {
    return norm(
        x.conv2d(parameter({out, x.size(1), kernel, kernel}), {}, 1, stride, 1, kernel / 2));
  }
  // A step of training: new weights, and the loss.
  std::vector<Tensor> stepped(const Tensor& loss) {
    std::vector<Tensor> results = loss.gradient(parameters);
    for (std::size_t i = 0; i < results.size(); ++i)
      results[i] = parameters[i].detach() - results[i] * 1e-4;
    results.push_back(loss);
    return results;
  }
};

struct ResNet50 : ConvolutionNetwork {
  std::int64_t batch = 1;

  Tensor bottleneck(const Tensor& x, std::int64_t planes, std::int64_t stride) {
    const auto block = [&](const Tensor& in) { return kept_bottleneck(in, planes, stride); };
    return is_checkpointed ? checkpoint(block, x) : block(x);
  }

  Tensor kept_bottleneck(const Tensor& x, std::int64_t planes, std::int64_t stride) {
    const Tensor y = convolution(convolution(x, planes, 1).relu(), planes, 3, stride).relu();
    const bool same = stride == 1 && x.size(1) == 4 * planes;
    const Tensor side = same ? x : convolution(x, 4 * planes, 1, stride);
    return (convolution(y, 4 * planes, 1) + side).relu();
  }

  Tensor forward() {
    Tensor x =
        convolution(weight({batch, 3, 224, 224}), 64, 7, 2).relu().max_pool2d({3, 3}, 2, 1, 1);
    const std::int64_t blocks[] = {3, 4, 6, 3};
    for (std::int64_t stage = 0; stage < 4; ++stage)
      for (std::int64_t block = 0; block < blocks[stage]; ++block)
        x = bottleneck(x, 64 << stage, stage > 0 && block == 0 ? 2 : 1);
    return x.mean({2, 3}).linear(parameter({2048, 1000}), parameter({1000}));
  }

  std::vector<Tensor> step() {
    const Tensor targets = Tensor::empty({batch}, {.dtype = dtypes::i32});
    return stepped(forward().sparse_categorical_crossentropy(targets));
  }
};

// Down to a sixteenth and up again, with what was on the way down beside it.
struct UNet : ConvolutionNetwork {
  std::int64_t batch = 1, size = 256, width = 64, depth = 4;

  Tensor twice(const Tensor& x, std::int64_t out) {
    return convolution(convolution(x, out, 3).relu(), out, 3).relu();
  }

  Tensor forward() {
    std::vector<Tensor> down{twice(weight({batch, 3, size, size}), width)};
    for (std::int64_t level = 1; level <= depth; ++level)
      down.push_back(twice(down.back().max_pool2d({2, 2}), width << level));
    Tensor x = down.back();
    for (std::int64_t level = depth; level-- > 0;) {
      const std::int64_t channels = width << level;
      const Tensor up = x.conv_transpose2d(parameter({x.size(1), channels, 2, 2}), {}, 1, 2);
      x = twice(Tensor::cat({down[static_cast<std::size_t>(level)], up}, 1), channels);
    }
    return x.conv2d(parameter({2, width, 1, 1}));
  }

  std::vector<Tensor> step() {
    return stepped((forward() - weight({batch, 2, size, size})).square().mean());
  }
};

}  // namespace weft::bench
