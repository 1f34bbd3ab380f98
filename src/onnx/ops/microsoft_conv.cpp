// com.microsoft: convolutions with more in them, or other layouts.
#include <fmt/format.h>

#include "microsoft.h"
#include "sliding.h"

namespace weft::onnx {
namespace {

Tensor activated_as_asked(const Call& call, const Tensor& x) {
  return activated(call, x, call.attr("activation", ""),
                   call.attr("activation_params", std::vector<double>()));
}

Tensor fused_conv(const Call& call) {
  Tensor y = convolved(call, call.tensor(0), call.tensor(1), call.tensor_or_null(2));
  if (call.has(3)) y = y + call.tensor(3);
  return activated_as_asked(call, y);
}

// Channels last; the weights are as ever.
Tensor nhwc_conv(const Call& call) {
  const Tensor x = call.tensor(0).movedim(-1, 1);
  return convolved(call, x, call.tensor(1), call.tensor_or_null(2)).movedim(1, -1);
}

Tensor nhwc_fused_conv(const Call& call) {
  Tensor y = nhwc_conv(call);
  if (call.has(3)) y = y + call.tensor(3);
  return activated_as_asked(call, y);
}

Tensor nhwc_max_pool(const Call& call) {
  const Tensor x = call.tensor(0).movedim(-1, 1);
  const Sliding window = sliding_over(call, x);
  return x
      .max_pool(window.kernel, {.stride = window.stride,
                                .dilation = window.dilation,
                                .padding = window.pads,
                                .ceil_mode = call.attr("ceil_mode", 0) != 0})
      .movedim(1, -1);
}

Tensor conv_transpose_with_dynamic_pads(const Call& call) {
  const Tensor x = call.tensor(0), weight = call.tensor(1);
  Sliding window = sliding_over(call, x, weight);
  const std::size_t axes = window.kernel.size();
  if (call.has(2)) {
    const std::vector<std::int64_t> pads = call.ints(2);
    if (pads.size() != 2 * axes) call.refuse("there are not two pads for each axis");
    for (std::size_t i = 0; i < axes; ++i) window.pads[i] = {pads[i], pads[i + axes]};
  }
  return x.conv_transpose(weight, call.tensor_or_null(3),
                          {.groups = groups_of(call, x),
                           .stride = window.stride,
                           .dilation = window.dilation,
                           .padding = window.pads,
                           .output_padding = numbers_of(call, "output_padding", axes, 0, 0)});
}

}  // namespace

OpTable microsoft_conv_ops() {
  static const Op ops[] = {
      {"ConvTransposeWithDynamicPads", 1, conv_transpose_with_dynamic_pads},
      {"FusedConv", 1, fused_conv},
      {"NhwcConv", 1, nhwc_conv},
      {"NhwcFusedConv", 1, nhwc_fused_conv},
      {"NhwcMaxPool", 1, nhwc_max_pool},
  };
  return {microsoft, ops};
}

}  // namespace weft::onnx
