// com.microsoft: operators between quantised tensors.
#include "microsoft_quantized.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <weft/functional.h>

#include "microsoft_heads.h"
#include "sliding.h"

namespace weft::onnx {
namespace {

// What integers of a type hold.
std::pair<std::int64_t, std::int64_t> range_of(Type type) {
  switch (type) {
    case Type::U4: return {0, 15};
    case Type::I4: return {-8, 7};
    case Type::U2: return {0, 3};
    case Type::I2: return {-2, 1};
    case Type::I8: return {-128, 127};
    case Type::U16: return {0, 65535};
    case Type::I16: return {-32768, 32767};
    default: return {0, 255};
  }
}

}  // namespace

Quant Quant::along(std::int64_t axis, std::int64_t rank) const {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(rank), 1);
  shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = -1;
  const auto placed = [&](const Tensor& x) {
    return x.is_null() || x.numel() <= 1 ? x : x.reshape(shape);
  };
  return {placed(scale), placed(zero)};
}

Tensor centred(const Tensor& x, const Quant& quant) {
  const Tensor wide = x.cast(dtypes::i32);
  return quant.zero.is_null() ? wide : wide - quant.zero.cast(dtypes::i32);
}

Tensor dequantized(const Tensor& x, const Quant& quant) {
  return centred(x, quant).cast(quant.scale.dtype()) * quant.scale;
}

Tensor quantized(const Tensor& x, const Quant& quant, Type type) {
  const auto [least, most] = range_of(type);
  Tensor steps = (x / quant.scale).cast(dtypes::f32).round();
  if (!quant.zero.is_null()) steps = steps + quant.zero.cast(dtypes::f32);
  return steps.clamp(least, most).cast(dtype_of(type));
}

Dynamic dynamically_quantized(const Tensor& x) {
  const Tensor least = x.min().minimum(0.0), most = x.max().maximum(0.0);
  const Tensor range = most - least, scale = (range == 0).where(1.0, range / 255.0);
  const Tensor zero = (-least / scale).round().clamp(0, 255).cast(dtypes::u8);
  const Quant quant(scale, zero);
  return {quantized(x, quant, Type::U8), quant};
}

namespace {

using Ints = std::vector<std::int64_t>;

// The type of a zero, and so of what it belongs to; u8 without one.
Type type_beside(const Call& call, std::size_t zero) {
  return call.has(zero) ? call.value(zero).type() : Type::U8;
}

Tensor input(const Call& call, std::size_t first) {
  return dequantized(call.tensor(first), Quant(call, first + 1, first + 2));
}

Tensor output(const Call& call, const Tensor& y, std::size_t scale) {
  return quantized(y, Quant(call, scale, scale + 1), type_beside(call, scale + 1));
}

// --- Elements ---------------------------------------------------------------------------------------

std::int64_t axis_of(const Call& call, std::int64_t otherwise, std::int64_t rank) {
  const std::int64_t axis = call.attr("axis", otherwise);
  if (rank > 0 && (axis < -rank || axis >= rank))
    call.refuse(fmt::format("it has no axis {}", axis));
  return axis;
}

Values quantize_linear(const Call& call) {
  const Tensor x = call.tensor(0);
  Quant quant(call, 1, 2);
  if (quant.scale.numel() > 1) quant = quant.along(axis_of(call, 1, x.ndim()), x.ndim());
  const Type type = type_beside(call, 2);
  return {Value(quantized(x, quant, type), type)};
}

Tensor dequantize_linear(const Call& call) {
  const Tensor x = call.tensor(0);
  Quant quant(call, 1, 2);
  if (quant.scale.numel() > 1) quant = quant.along(axis_of(call, 1, x.ndim()), x.ndim());
  return dequantized(x, quant);
}

Tensor qlinear_add(const Call& call) { return output(call, input(call, 0) + input(call, 3), 6); }
Tensor qlinear_mul(const Call& call) { return output(call, input(call, 0) * input(call, 3), 6); }
Tensor qlinear_sigmoid(const Call& call) { return output(call, input(call, 0).sigmoid(), 3); }

Tensor qlinear_leaky_relu(const Call& call) {
  return output(call, input(call, 0).leaky_relu(call.attr("alpha", 0.01)), 3);
}

// Before opset 13, over the axis and all behind it.
Tensor qlinear_softmax(const Call& call) {
  const Tensor x = input(call, 0);
  const std::int64_t axis = axis_of(call, -1, x.ndim());
  if (call.attr("opset", 13) >= 13) return output(call, x.softmax(axis), 3);
  return output(call, x.flatten(axis).softmax(-1).reshape_as(x), 3);
}

Tensor qlinear_where(const Call& call) {
  return output(call, call.tensor(0).where(input(call, 1), input(call, 4)), 7);
}

Tensor qlinear_concat(const Call& call) {
  std::vector<Tensor> parts;
  if (call.inputs() < 5 || (call.inputs() - 2) % 3 != 0)
    call.refuse("each of its inputs has a scale and a zero");
  for (std::size_t i = 2; i < call.inputs(); i += 3) parts.push_back(input(call, i));
  return output(call, Tensor::cat(parts, call.attr<std::int64_t>("axis")), 0);
}

Tensor qlinear_reduce_mean(const Call& call) {
  const Ints axes = call.attr("axes", Ints());
  const bool keep = call.attr("keepdims", 1) != 0;
  const Tensor x = input(call, 0);
  return output(call, axes.empty() ? x.mean({}, keep) : x.mean(axes, keep), 3);
}

Tensor mul_integer(const Call& call) {
  const auto whole = [&](std::size_t input) {
    const Tensor x = call.tensor(input).cast(dtypes::i32);
    return call.has(input + 1) ? x - call.tensor(input + 1).cast(dtypes::i32) : x;
  };
  return whole(0) * whole(2);
}

// --- Windows ------------------------------------------------------------------------------------------

// A function of images whose channels come first, of some whose channels may come last.
template <class F>
Tensor over_images(const Call& call, const Tensor& x, const F& function) {
  const bool is_last = call.attr("channels_last", 0) != 0;
  const Tensor y = function(is_last ? x.movedim(-1, 1) : x);
  return is_last ? y.movedim(1, -1) : y;
}

Tensor qlinear_average_pool(const Call& call) {
  return over_images(call, input(call, 0), [&](const Tensor& x) {
    const Sliding window = sliding_over(call, x);
    return output(
        call,
        x.avg_pool(window.kernel, {.stride = window.stride,
                                   .padding = window.pads,
                                   .ceil_mode = call.attr("ceil_mode", 0) != 0,
                                   .count_include_pad = call.attr("count_include_pad", 0) != 0}),
        3);
  });
}

Tensor qlinear_global_average_pool(const Call& call) {
  return over_images(call, input(call, 0), [&](const Tensor& x) {
    return output(call, functional::global_avg_pool(x), 3);
  });
}

Tensor qlinear_conv(const Call& call) {
  return over_images(call, call.tensor(0), [&](const Tensor& x) {
    const Tensor weight = call.tensor(3);
    const Quant own(call, 1, 2), weights = Quant(call, 4, 5).along(0, weight.ndim());
    const Tensor bias = call.has(8) ? call.tensor(8).cast(dtypes::i32) : Tensor();
    const Tensor sums = convolved(call, centred(x, own), centred(weight, weights), bias);
    const Tensor scale = own.scale * Quant(call, 4, 5).along(1, weight.ndim()).scale;
    return output(call, sums.cast(dtypes::f32) * scale, 6);
  });
}

// --- Products -----------------------------------------------------------------------------------------

// One scale for each column, or one in all.
Tensor product(const Tensor& a, const Quant& of_a, const Tensor& b, const Quant& of_b) {
  const Quant columns = of_b.along(-1, std::max<std::int64_t>(b.ndim(), 1));
  return centred(a, of_a).matmul(centred(b, columns)).cast(of_a.scale.dtype()) *
         (of_a.scale * columns.scale);
}

Tensor matmul_integer_16(const Call& call) {
  return call.tensor(0).cast(dtypes::i32).matmul(call.tensor(1).cast(dtypes::i32));
}

Tensor matmul_integer_to_float(const Call& call) {
  const Tensor y = product(call.tensor(0), Quant(call, 2, 4), call.tensor(1), Quant(call, 3, 5));
  return call.has(6) ? y + call.tensor(6) : y;
}

Tensor dynamic_quantize_matmul(const Call& call) {
  const Dynamic a = dynamically_quantized(call.tensor(0));
  const Tensor y = product(a.values, a.quant, call.tensor(1), Quant(call, 2, 3));
  return call.has(4) ? y + call.tensor(4) : y;
}

Tensor qgemm(const Call& call) {
  const Tensor a = call.tensor(0), b = call.tensor(3);
  const Tensor left = call.attr("transA", 0) != 0 ? a.mT() : a,
               right = call.attr("transB", 0) != 0 ? b.mT() : b;
  const Quant of_a(call, 1, 2), of_b = Quant(call, 4, 5).along(1, 2);
  Tensor sums = centred(left, of_a).matmul(centred(right, of_b));
  if (call.has(6)) sums = sums + call.tensor(6);
  const Tensor y = sums.cast(dtypes::f32) * (of_a.scale * of_b.scale) * call.attr("alpha", 1.0);
  return call.has(7) ? output(call, y, 7) : y;
}

Values qattention(const Call& call) {
  const Tensor projected =
      product(call.tensor(0), Quant(call, 3, 6), call.tensor(1), Quant(call, 4, 7)) +
      call.tensor(2);
  return attended(call, projected, call.tensor_or_null(8), {}, {call.tensor_or_null(5), {}});
}

Values qembed_layer_normalization(const Call& call) {
  const auto dense = [&](std::size_t which) {
    return dequantized(call.tensor(which), Quant(call, which + 6, which + 11));
  };
  const Tensor ids = call.tensor(0);
  if (ids.ndim() != 2) call.refuse("input_ids has the shape (batch, sequence)");
  Tensor sum = dense(2).take(ids) + dense(3).narrow(0, 0, ids.size(1));
  if (call.has(1) && call.has(4)) sum = sum + dense(4).take(call.tensor(1));
  const auto normalized = layer_normalized(sum, dense(5), dense(6), call.attr("epsilon", 1e-12));
  const Tensor lengths = call.has(7) ? (call.tensor(7) == 1).sum(1, false, dtypes::i32)
                                     : Tensor::zeros({ids.size(0)}, call.options(dtypes::i32));
  return {normalized.y, lengths};
}

}  // namespace

OpTable microsoft_quantized_ops() {
  static const Op ops[] = {
      {"DequantizeLinear", 1, dequantize_linear},
      {"DynamicQuantizeMatMul", 1, dynamic_quantize_matmul},
      {"MatMulInteger16", 1, matmul_integer_16},
      {"MatMulIntegerToFloat", 1, matmul_integer_to_float},
      {"MulInteger", 1, mul_integer},
      {"QAttention", 1, qattention},
      {"QEmbedLayerNormalization", 1, qembed_layer_normalization},
      {"QGemm", 1, qgemm},
      {"QLinearAdd", 1, qlinear_add},
      {"QLinearAveragePool", 1, qlinear_average_pool},
      {"QLinearConcat", 1, qlinear_concat},
      {"QLinearConv", 1, qlinear_conv},
      {"QLinearGlobalAveragePool", 1, qlinear_global_average_pool},
      {"QLinearLeakyRelu", 1, qlinear_leaky_relu},
      {"QLinearMul", 1, qlinear_mul},
      {"QLinearReduceMean", 1, qlinear_reduce_mean},
      {"QLinearSigmoid", 1, qlinear_sigmoid},
      {"QLinearSoftmax", 1, qlinear_softmax},
      {"QLinearWhere", 1, qlinear_where},
      {"QuantizeLinear", 1, quantize_linear},
  };
  return {microsoft, ops};
}

}  // namespace weft::onnx
