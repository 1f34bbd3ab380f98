// Residual networks, with torchvision's names of weights.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/weft.h>

namespace models {

using namespace weft;

inline nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                              std::int64_t stride = 1) {
  return {in, out, kernel, {.stride = stride, .padding = kernel / 2, .bias = false}};
}

// What a block adds to, in the sizes of what it adds; nothing where these are the same.
using Shortcut = std::optional<nn::Sequential<nn::Conv2d, nn::BatchNorm>>;
inline Shortcut shortcut(std::int64_t in, std::int64_t out, std::int64_t stride) {
  if (in == out && stride == 1) return {};
  return nn::Sequential(convolution(in, out, 1, stride), nn::BatchNorm(out));
}

// Two convolutions: ResNet-18 and 34.
struct BasicBlock {
  static constexpr std::int64_t expansion = 1;
  nn::Conv2d conv1, conv2;
  nn::BatchNorm bn1, bn2;
  Shortcut downsample;

  BasicBlock(std::int64_t in, std::int64_t width, std::int64_t stride)
      : conv1(convolution(in, width, 3, stride)),
        conv2(convolution(width, width, 3)),
        bn1(width),
        bn2(width),
        downsample(shortcut(in, width, stride)) {}
  Tensor operator()(const Tensor& x) const {
    const Tensor y = bn2(conv2(bn1(conv1(x)).relu()));
    return (y + (downsample ? (*downsample)(x) : x)).relu();
  }
  WEFT_FIELDS(conv1, bn1, conv2, bn2, downsample);
};

// A narrow one between two of size 1: ResNet-50 and deeper.
struct Bottleneck {
  static constexpr std::int64_t expansion = 4;
  nn::Conv2d conv1, conv2, conv3;
  nn::BatchNorm bn1, bn2, bn3;
  Shortcut downsample;

  Bottleneck(std::int64_t in, std::int64_t width, std::int64_t stride)
      : conv1(convolution(in, width, 1)),
        conv2(convolution(width, width, 3, stride)),
        conv3(convolution(width, 4 * width, 1)),
        bn1(width),
        bn2(width),
        bn3(4 * width),
        downsample(shortcut(in, 4 * width, stride)) {}
  Tensor operator()(const Tensor& x) const {
    const Tensor y = bn3(conv3(bn2(conv2(bn1(conv1(x)).relu())).relu()));
    return (y + (downsample ? (*downsample)(x) : x)).relu();
  }
  WEFT_FIELDS(conv1, bn1, conv2, bn2, conv3, bn3, downsample);
};

struct ResNetSizes {
  std::vector<std::int64_t> blocks;  // of the four layers
  std::int64_t classes = 1000, width = 64;
  bool is_small =
      false;  // images of 32 x 32: the first convolution leaves their size, no pool behind it
};

template <class Block>
struct ResNet {
  bool is_small;
  nn::Conv2d conv1;
  nn::BatchNorm bn1;
  std::vector<Block> layer1, layer2, layer3, layer4;
  nn::Linear fc;

  explicit ResNet(const ResNetSizes& sizes)
      : is_small(sizes.is_small),
        conv1(convolution(3, sizes.width, is_small ? 3 : 7, is_small ? 1 : 2)),
        bn1(sizes.width),
        layer1(layer(sizes, 0)),
        layer2(layer(sizes, 1)),
        layer3(layer(sizes, 2)),
        layer4(layer(sizes, 3)),
        fc(8 * sizes.width * Block::expansion, sizes.classes) {}

  // Images (batch, 3, height, width) to scores (batch, classes).
  Tensor operator()(const Tensor& images) const {
    Tensor x = bn1(conv1(images)).relu();
    if (!is_small) x = x.max_pool(PerDim{3, 3}, {.stride = 2, .padding = 1});
    for (const auto* layer : {&layer1, &layer2, &layer3, &layer4})
      for (const Block& block : *layer) x = block(x);
    return fc(x.mean({2, 3}));
  }
  WEFT_FIELDS(conv1, bn1, layer1, layer2, layer3, layer4, fc);

 private:
  static std::vector<Block> layer(const ResNetSizes& sizes, std::int64_t number) {
    const std::int64_t width = sizes.width << number;
    std::int64_t in = number == 0 ? sizes.width : width / 2 * Block::expansion;
    std::vector<Block> blocks;
    for (std::int64_t i = 0; i < sizes.blocks[static_cast<std::size_t>(number)]; ++i) {
      blocks.emplace_back(in, width, i == 0 && number > 0 ? 2 : 1);
      in = width * Block::expansion;
    }
    return blocks;
  }
};

inline ResNet<Bottleneck> resnet50(std::int64_t classes = 1000) {
  return ResNet<Bottleneck>({.blocks = {3, 4, 6, 3}, .classes = classes});
}
// For CIFAR-10.
inline ResNet<BasicBlock> small_resnet18(std::int64_t width = 64) {
  return ResNet<BasicBlock>(
      {.blocks = {2, 2, 2, 2}, .classes = 10, .width = width, .is_small = true});
}

}  // namespace models
