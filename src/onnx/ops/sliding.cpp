#include "sliding.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/tensor/sizes.h>

namespace weft::onnx {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 31;

// Half of what windows reach beyond an axis on each side.
template <class Size>
std::pair<Size, Size> halves(const Size& less, const Size& more, bool is_lower) {
  return is_lower ? std::pair{more, less} : std::pair{less, more};
}

// What ceil(size / stride) windows reach beyond an axis.
Padding::Sides same_pads(std::int64_t size, std::int64_t stride, std::int64_t reach,
                         bool is_lower) {
  const std::int64_t windows = (size + stride - 1) / stride;
  const std::int64_t all = std::max<std::int64_t>(0, (windows - 1) * stride + reach - size);
  return halves(all / 2, all - all / 2, is_lower);
}

OpenPads open_pads(const Dim& size, std::int64_t stride, std::int64_t reach, bool is_lower) {
  const Dim windows = floordiv(plus(size, stride - 1), stride);
  const Dim whole = simplified(plus(times(windows, stride), reach - stride));
  const Dim all = simplified(minus(whole, size));
  const auto [before, after] = halves(floordiv(all, 2), floordiv(plus(all, 1), 2), is_lower);
  return {before, after, whole};
}

// Windows of one element see no pads, and those in steps of 1 the same for every size.
void add_same_pads(const Call& call, Sliding& window, std::size_t i, const Dim& size,
                   bool is_lower) {
  const std::int64_t stride = window.stride[i], reach = window.reach(i);
  if (!size.is_symbolic() || stride == 1 || reach == 1) {
    window.pads[i] = same_pads(least(size), stride, reach, is_lower);
    return;
  }
  if (stride > reach)
    call.refuse(fmt::format("by auto_pad, windows that span {} in steps of {} along an open axis",
                            reach, stride));
  window.open_pads[i] = open_pads(size, stride, reach, is_lower);
}

Sliding sliding(const Call& call, const Tensor& x, std::vector<std::int64_t> kernel) {
  const std::size_t n = kernel.size();
  Sliding window{.kernel = std::move(kernel),
                 .stride = numbers_of(call, "strides", n, 1, 1),
                 .dilation = numbers_of(call, "dilations", n, 1, 1),
                 .pads = std::vector<Padding::Sides>(n, {0, 0}),
                 .open_pads = std::vector<std::optional<OpenPads>>(n)};
  const std::string automatic = call.attr("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty()) {
    window.pads = pads_of(call, n);
    return window;
  }
  window.is_automatic = true;
  if (automatic == "VALID") return window;
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
    call.refuse(
        fmt::format("auto_pad is '{}': want NOTSET, SAME_UPPER, SAME_LOWER or VALID", automatic));
  for (std::size_t i = 0; i < n; ++i)
    add_same_pads(call, window, i, x.dims()[2 + i], automatic == "SAME_LOWER");
  return window;
}

Sliding without_open_pads(const Call& call, Sliding window) {
  if (std::ranges::any_of(window.open_pads, [](const auto& pads) { return pads.has_value(); }))
    call.refuse(
        "by auto_pad, pads along an open axis depend on its size: want pads that are numbers");
  return window;
}

ConvOptions options_of(const Call& call, const Tensor& x, const Sliding& window) {
  return {.groups = groups_of(call, x),
          .stride = window.stride,
          .dilation = window.dilation,
          .padding = window.pads};
}

}  // namespace

Tensor Sliding::padded_along(const Tensor& tensor, std::size_t axis, std::size_t i,
                             Scalar fill) const {
  const std::optional<OpenPads>& open = open_pads[i];
  if (!open) return tensor;
  Tensor::Bounds around(static_cast<std::size_t>(tensor.ndim()), {0, 0}), whole;
  around[axis] = {open->before, open->after};
  for (const Dim& size : tensor.dims()) whole.emplace_back(0, size);
  whole[axis].second = open->whole;  // as the pads say, and known to be long enough
  return tensor.pad(around, fill).shrink(whole);
}

Tensor Sliding::padded(const Tensor& x, Scalar fill) const {
  Tensor result = x;
  for (std::size_t i = 0; i < kernel.size(); ++i) result = padded_along(result, 2 + i, i, fill);
  return result;
}

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

Sliding open_sliding_over(const Call& call, const Tensor& x) {
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

Sliding sliding_over(const Call& call, const Tensor& x) {
  return without_open_pads(call, open_sliding_over(call, x));
}

Sliding sliding_over(const Call& call, const Tensor& x, const Tensor& weight) {
  return without_open_pads(call, sliding(call, x, kernel_of(call, x, weight)));
}

std::int64_t groups_of(const Call& call, const Tensor& x) {
  const std::int64_t groups = call.attr("group", 1);
  if (groups < 1 || groups > x.size(1) || x.size(1) % groups != 0)
    call.refuse(fmt::format("group is {} for {} channels", groups, x.size(1)));
  return groups;
}

ConvOptions conv_options(const Call& call, const Tensor& x, const Tensor& weight) {
  return options_of(call, x, sliding_over(call, x, weight));
}

Tensor convolved(const Call& call, const Tensor& x, const Tensor& weight, const Tensor& bias,
                 DType dtype) {
  const Sliding window = sliding(call, x, kernel_of(call, x, weight));
  ConvOptions options = options_of(call, x, window);
  options.dtype = dtype;
  return window.padded(x).conv(weight, bias, options);
}

Padded padded_input(const Call& call, const Tensor& x, const Tensor& weight, Scalar fill) {
  const Sliding window = sliding(call, x, kernel_of(call, x, weight));
  Tensor::Bounds bounds(2, {0, 0});
  for (const auto& [before, after] : window.pads) bounds.emplace_back(before, after);
  Padded result{window.padded(x, fill).pad(bounds, fill), options_of(call, x, window)};
  result.options.padding = 0;
  return result;
}

}  // namespace weft::onnx
