// Products of matrices, and convolutions.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "axes.h"
#include "sliding.h"
#include "tables.h"

namespace weft::onnx {
namespace {

Tensor matmul(const Call& call) {
  const Tensor a = call.tensor(0);
  return a.matmul(call.tensor(1)).cast(a.dtype());
}

// alpha a b + beta c. Where a factor is not 1 and the elements are integers, floats are cut to them. The standard has
// matrices; some tools give it batches of them.
Tensor gemm(const Call& call) {
  Tensor a = call.tensor(0), b = call.tensor(1), c = call.tensor_or_null(2);
  const double alpha = call.attr("alpha", 1.0), beta = call.attr("beta", 1.0);
  if (a.ndim() < 2 || b.ndim() < 2)
    call.refuse(fmt::format("inputs of {} and {} axes are no matrices", a.ndim(), b.ndim()));
  const DType dtype = a.dtype();
  if (call.attr("transA", 0) != 0) a = a.transpose(-2, -1);
  if (call.attr("transB", 0) != 0) b = b.transpose(-2, -1);
  Tensor y = a.matmul(b);
  if (alpha != 1) y = y * alpha;
  if (!c.is_null() && beta != 0) y = y + (beta == 1 ? c : c * beta);
  return y.cast(dtype);
}

Tensor einsum(const Call& call) {
  const std::vector<Tensor> operands = call.tensors();
  if (operands.empty()) call.refuse("there are no operands");
  return Tensor::einsum(call.attr<std::string>("equation"), operands).cast(operands[0].dtype());
}

Tensor det(const Call& call) {
  const Tensor x = call.tensor(0);
  return x.cast(wide(x.dtype())).det().cast(x.dtype());
}

Tensor conv(const Call& call) {
  return convolved(call, call.tensor(0), call.tensor(1), call.tensor_or_null(2));
}

// What an axis has more than it should, cut from both sides; where it should have more, zeros follow it.
Padding::Sides cut(std::int64_t more, bool is_upper) {
  if (more < 0) return {0, more};
  const std::int64_t half = more / 2;
  return is_upper ? Padding::Sides{half, more - half} : Padding::Sides{more - half, half};
}

Tensor conv_transpose(const Call& call) {
  const Tensor x = call.tensor(0), weight = call.tensor(1);
  const std::vector<std::int64_t> kernel = kernel_of(call, x, weight);
  const std::size_t n = kernel.size();
  const auto stride = numbers_of(call, "strides", n, 1, 1);
  const auto dilation = numbers_of(call, "dilations", n, 1, 1);
  const auto more = numbers_of(call, "output_padding", n, 0, 0);
  const std::string automatic = call.attr("auto_pad", "NOTSET");
  const bool is_same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  std::vector<Padding::Sides> pads = pads_of(call, n);
  if (automatic == "VALID") pads.assign(n, {0, 0});
  auto sizes = call.attr("output_shape", std::vector<std::int64_t>{});
  if (sizes.size() == n + 2) sizes.erase(sizes.begin(), sizes.begin() + 2);
  if (!sizes.empty() && sizes.size() != n)
    call.refuse(fmt::format("output_shape is ({}): want {} sizes", fmt::join(sizes, ", "), n));
  for (std::size_t i = 0; i < n; ++i) {
    if (sizes.empty() && !is_same) break;
    // More than `stride` for each element, which is the size by auto_pad: the same for every size.
    std::int64_t beyond = more[i] + dilation[i] * (kernel[i] - 1) + 1 - stride[i];
    if (!sizes.empty()) {
      const std::int64_t from = x.size(static_cast<std::int64_t>(2 + i)), to = sizes[i];
      if (to < 1 || to > (std::int64_t{1} << 40)) call.refuse(fmt::format("a size of {}", to));
      beyond += stride[i] * from - to;
    }
    pads[i] = cut(beyond, automatic == "SAME_UPPER");
  }
  return x.conv_transpose(weight, call.tensor_or_null(2),
                          {.groups = groups_of(call, x),
                           .stride = stride,
                           .dilation = dilation,
                           .padding = pads,
                           .output_padding = more});
}

// A convolution of each channel for itself over what was and what is: input (batch, channels, time).
Values causal_conv(const Call& call) {
  const Tensor x = call.tensor(0), weight = call.tensor(1);
  if (x.ndim() != 3 || weight.ndim() != 3)
    call.refuse(
        fmt::format("an input of {} axes and a weight of {}: want 3", x.ndim(), weight.ndim()));
  const std::string activation = call.attr("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    call.refuse(fmt::format("activation is '{}': want none, silu or swish", activation));
  const std::int64_t before = weight.size(2) - 1;
  const Tensor past = call.tensor_or_null(3);
  const Tensor all = past.is_null() ? x.pad(Tensor::Bounds{{0, 0}, {0, 0}, {before, 0}})
                                    : Tensor::cat({past, x}, 2);
  Tensor y = all.conv(weight, call.tensor_or_null(2), {.groups = x.size(1)});
  if (activation != "none") y = y.cast(wide(x.dtype())).silu().cast(x.dtype());
  return {y, all.slice(2, {.start = all.size(2) - before})};
}

}  // namespace

OpTable product_ops() {
  static const Op ops[] = {
      {"CausalConvWithState", 27, causal_conv},
      {"Conv", 1, conv},
      {"ConvTranspose", 1, conv_transpose},
      {"Det", 11, det},
      {"Einsum", 12, einsum},
      {"Gemm", 1, gemm},
      {"MatMul", 1, matmul},
  };
  return {"", ops};
}

}  // namespace weft::onnx
