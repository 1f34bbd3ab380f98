// Convolutions.

#include <weft/nn/conv.h>

#include <array>
#include <functional>
#include <numeric>

#include "parameters.h"

namespace weft::nn {
namespace {

constexpr std::array conv_names{"", "Conv1d", "Conv2d", "Conv3d"};
constexpr std::array transposed_names{"", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"};

void want_groups(std::int64_t in, std::int64_t out, std::int64_t groups) {
  want_sizes({in, out});
  if (groups < 1 || in % groups != 0 || out % groups != 0)
    user_error(fmt::format("{} channels in and {} out are not in {} groups", in, out, groups));
}

void want_axes(const Tensor& x, std::size_t dims) {
  if (const std::int64_t axes = x.ndim(), all = static_cast<std::int64_t>(dims) + 2;
      axes != all && axes != all - 1)
    user_error(
        fmt::format("an input of {} axes: want {}, or {} without batch", axes, all, all - 1));
}

std::int64_t count_of(const std::vector<std::int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

Shape shape_of(std::int64_t first, std::int64_t second, const std::vector<std::int64_t>& kernel) {
  std::vector<Dim> sizes{first, second};
  sizes.insert(sizes.end(), kernel.begin(), kernel.end());
  return sizes;
}

// Filled otherwise than with zeros, before the convolution sees it.
template <std::size_t Dims>
Tensor padded(const Conv<Dims>& layer, const Tensor& x) {
  const ConvOptions& options = layer.options;
  const std::vector<std::int64_t> shape = layer.weight.shape();
  const auto sides =
      options.padding.of("conv", {shape.begin() + 2, shape.end()}, options.stride.of(Dims, "conv"),
                         options.dilation.of(Dims, "conv"));
  Tensor::Bounds bounds(static_cast<std::size_t>(x.ndim()) - Dims, {0, 0});
  for (const auto& [before, after] : sides) bounds.emplace_back(before, after);
  return x.pad(bounds, options.padding_mode);
}

}  // namespace

template <std::size_t Dims>
Conv<Dims>::Conv(std::int64_t in_channels, std::int64_t out_channels, const PerDim& kernel_size,
                 const ConvOptions& given)
    : options(given) {
  const Called called(conv_names[Dims]);
  want_groups(in_channels, out_channels, options.groups);
  const std::vector<std::int64_t> kernel = kernel_size.of(Dims, "conv");
  want_all(kernel);
  const std::int64_t inputs = in_channels / options.groups * count_of(kernel);
  const Shape shape = shape_of(out_channels, in_channels / options.groups, kernel);
  weight = uniform_of_fan(shape, inputs, learned(options));
  if (options.bias) bias = uniform_of_fan({out_channels}, inputs, learned(options));
}

template <std::size_t Dims>
Tensor Conv<Dims>::operator()(const Tensor& x) const {
  const Called called(conv_names[Dims]);
  want_axes(x, Dims);
  const bool has_zeros = options.padding_mode == PadMode::Constant;
  return (has_zeros ? x : padded(*this, x))
      .conv(weight, bias,
            {.groups = options.groups,
             .stride = options.stride,
             .dilation = options.dilation,
             .padding = has_zeros ? options.padding : Padding(0)});
}

template <std::size_t Dims>
ConvTranspose<Dims>::ConvTranspose(std::int64_t in_channels, std::int64_t out_channels,
                                   const PerDim& kernel_size, const ConvTransposeOptions& given)
    : options(given) {
  const Called called(transposed_names[Dims]);
  want_groups(in_channels, out_channels, options.groups);
  const std::vector<std::int64_t> kernel = kernel_size.of(Dims, "conv");
  want_all(kernel);
  const std::int64_t each = out_channels / options.groups, inputs = each * count_of(kernel);
  weight = uniform_of_fan(shape_of(in_channels, each, kernel), inputs, learned(options));
  if (options.bias) bias = uniform_of_fan({out_channels}, inputs, learned(options));
}

template <std::size_t Dims>
Tensor ConvTranspose<Dims>::operator()(const Tensor& x) const {
  const Called called(transposed_names[Dims]);
  want_axes(x, Dims);
  return x.conv_transpose(weight, bias,
                          {.groups = options.groups,
                           .stride = options.stride,
                           .dilation = options.dilation,
                           .padding = options.padding,
                           .output_padding = options.output_padding});
}

template struct Conv<1>;
template struct Conv<2>;
template struct Conv<3>;
template struct ConvTranspose<1>;
template struct ConvTranspose<2>;
template struct ConvTranspose<3>;

}  // namespace weft::nn
