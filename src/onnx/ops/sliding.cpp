#include "sliding.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft::onnx {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 31;

// What ceil(size / stride) windows reach beyond an axis, half of it on each side.
Padding::Sides same_pads(std::int64_t size, std::int64_t stride, std::int64_t reach,
                         bool is_lower) {
  const std::int64_t windows = (size + stride - 1) / stride;
  const std::int64_t all = std::max<std::int64_t>(0, (windows - 1) * stride + reach - size);
  const Padding::Sides sides{all / 2, all - all / 2};
  return is_lower ? Padding::Sides{sides.second, sides.first} : sides;
}

Sliding sliding(const Call& call, const Tensor& x, std::vector<std::int64_t> kernel) {
  const std::size_t n = kernel.size();
  Sliding window{.kernel = std::move(kernel),
                 .stride = numbers_of(call, "strides", n, 1, 1),
                 .dilation = numbers_of(call, "dilations", n, 1, 1),
                 .pads = {}};
  const std::string automatic = call.attr("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty()) {
    window.pads = pads_of(call, n);
    return window;
  }
  window.is_automatic = true;
  if (automatic == "VALID") {
    window.pads.assign(n, {0, 0});
    return window;
  }
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
    call.refuse(
        fmt::format("auto_pad is '{}': want NOTSET, SAME_UPPER, SAME_LOWER or VALID", automatic));
  for (std::size_t i = 0; i < n; ++i)
    window.pads.push_back(same_pads(x.size(static_cast<std::int64_t>(2 + i)), window.stride[i],
                                    window.reach(i), automatic == "SAME_LOWER"));
  return window;
}

}  // namespace

std::vector<std::int64_t> numbers_of(const Call& call, std::string_view attribute,
                                     std::size_t count, std::int64_t least,
                                     std::int64_t otherwise) {
  auto numbers = call.attr(attribute, std::vector<std::int64_t>{});
  if (numbers.empty()) return std::vector<std::int64_t>(count, otherwise);
  const bool fits = std::ranges::all_of(
      numbers, [&](std::int64_t number) { return number >= least && number <= most; });
  if (numbers.size() != count || !fits)
    call.refuse(fmt::format("{} is ({}): want {} numbers from {} to {}", attribute,
                            fmt::join(numbers, ", "), count, least, most));
  return numbers;
}

std::vector<Padding::Sides> pads_of(const Call& call, std::size_t axes) {
  const std::vector<std::int64_t> numbers = numbers_of(call, "pads", 2 * axes, -most, 0);
  std::vector<Padding::Sides> pads;
  for (std::size_t i = 0; i < axes; ++i) pads.emplace_back(numbers[i], numbers[axes + i]);
  return pads;
}

Sliding sliding_over(const Call& call, const Tensor& x) {
  if (x.ndim() < 3) call.refuse(fmt::format("an input of {} axes has no sizes", x.ndim()));
  if (!call.has("kernel_shape")) call.refuse("there is no kernel_shape");
  return sliding(call, x,
                 numbers_of(call, "kernel_shape", static_cast<std::size_t>(x.ndim() - 2), 1, 1));
}

std::vector<std::int64_t> kernel_of(const Call& call, const Tensor& x, const Tensor& weight) {
  if (weight.ndim() < 3 || x.ndim() != weight.ndim())
    call.refuse(fmt::format("an input of {} axes for a weight of {}: want as many, at least 3",
                            x.ndim(), weight.ndim()));
  std::vector<std::int64_t> kernel;
  for (std::int64_t axis = 2; axis < weight.ndim(); ++axis) kernel.push_back(weight.size(axis));
  const auto said = call.attr("kernel_shape", kernel);
  if (!said.empty() && said != kernel)
    call.refuse(fmt::format("kernel_shape is ({}), and the weight's is ({})", fmt::join(said, ", "),
                            fmt::join(kernel, ", ")));
  return kernel;
}

Sliding sliding_over(const Call& call, const Tensor& x, const Tensor& weight) {
  return sliding(call, x, kernel_of(call, x, weight));
}

std::int64_t groups_of(const Call& call, const Tensor& x) {
  const std::int64_t groups = call.attr("group", 1);
  if (groups < 1 || groups > x.size(1) || x.size(1) % groups != 0)
    call.refuse(fmt::format("group is {} for {} channels", groups, x.size(1)));
  return groups;
}

ConvOptions conv_options(const Call& call, const Tensor& x, const Tensor& weight) {
  const Sliding window = sliding_over(call, x, weight);
  return {.groups = groups_of(call, x),
          .stride = window.stride,
          .dilation = window.dilation,
          .padding = window.pads};
}

}  // namespace weft::onnx
