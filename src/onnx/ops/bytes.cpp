// What the clean-up of graphs makes of products between quantised tensors: the bytes are multiplied and added up, and
// sums become the floats that they stand for. No file has these.

#include "axes.h"
#include "conv_input.h"
#include "nearest.h"
#include "sliding.h"
#include "tables.h"

namespace weft::onnx {
namespace {

// Inputs of all of them. A step is that of the sums, for each channel or all. Without a zero point it is 0. The bias is of
// integers, counted in steps of the sums, or of floats.
enum : std::size_t { of_left, of_right, of_step, left_zero, right_zero, of_bias };

// What belongs to all channels, or to each of those along an axis.
Tensor by_channel(const Tensor& x, std::int64_t axis, std::int64_t rank) {
  return x.numel() == 1 ? x.reshape(Shape{}) : x.ndim() == 1 ? along(x, axis, rank) : x;
}

// What bytes stand for without the scale.
Tensor weights_of_bytes(const Call& call) {
  const Tensor bytes = call.tensor(0), wide = bytes.cast(dtypes::f32);
  if (!call.has(1)) return wide;
  return wide - by_channel(call.tensor(1).cast(dtypes::f32), call.attr<std::int64_t>("axis"),
                           bytes.ndim());
}

// Weights that were made floats are added up so.
DType sums_of(const Call& call) {
  return call.tensor(of_right).dtype().is_float() ? dtypes::f32 : dtypes::i32;
}

// Less a zero point that kernels know as a number, and so what bits the difference needs. Floats have memory: they are
// read many times.
Tensor left(const Call& call) {
  const DType sums = sums_of(call);
  const Tensor x = call.tensor(of_left).cast(sums);
  const Tensor moved = call.has(left_zero) ? x - call.ints(left_zero).at(0) : x;
  return sums.is_int() ? moved : moved.contiguous();
}

Tensor right(const Call& call, std::int64_t axis) {
  const Tensor weights = call.tensor(of_right);
  if (weights.dtype().is_float()) return weights;
  const Tensor wide = weights.cast(dtypes::i32);
  if (!call.has(right_zero)) return wide;
  return wide - by_channel(call.tensor(right_zero).cast(dtypes::i32), axis, weights.ndim());
}

// Sums with channels along an axis.
Tensor as_floats(const Call& call, const Tensor& sums, std::int64_t axis) {
  const std::int64_t rank = sums.ndim();
  const Tensor scale = by_channel(call.tensor(of_step), axis, rank);
  if (!call.has(of_bias)) return sums.cast(dtypes::f32) * scale;
  const Tensor bias = by_channel(call.tensor(of_bias), axis, rank);
  if (bias.dtype().is_int()) return (sums + bias.cast(sums.dtype())).cast(dtypes::f32) * scale;
  return sums.cast(dtypes::f32) * scale + bias;
}

// Padding counts as the zero point: it is there once that has been taken away, or where bias does that, in the bytes.
Tensor conv_of_bytes(const Call& call) {
  const DType sums = sums_of(call);
  const bool is_in_bias = call.attr("zero_is_in_bias", 0) != 0;
  const bool multiplies_bytes = sums.is_int() && (is_in_bias || !call.has(left_zero));
  Tensor x = multiplies_bytes ? call.tensor(of_left) : left(call), weight = right(call, 0);
  const bool surrounds = multiplies_bytes && call.attr("surrounds", 0) != 0;
  ConvOptions options;
  if (is_in_bias || surrounds) {
    const std::int64_t around = is_in_bias ? call.ints(left_zero).at(0) : 0;
    auto padded = padded_input(call, surrounds ? x.contiguous() : x, weight, around);
    x = surrounds ? place_by_place(padded.x) : padded.x;
    options = padded.options;
  } else {
    options = conv_options(call, x, weight);
  }
  options.dtype = sums;
  if (multiplies_bytes) {
    if (options.groups == 1) gather_channels(x, weight);
    x = x.cast(sums);
  }
  return as_floats(call, x.conv(weight, {}, options), 1);
}

Tensor gemm_of_bytes(const Call& call) {
  const bool turns_left = call.attr("transA", 0) != 0, turns_right = call.attr("transB", 0) != 0;
  const Tensor a = left(call), b = right(call, turns_right ? 0 : 1);
  return as_floats(call, (turns_left ? a.mT() : a).matmul(turns_right ? b.mT() : b, sums_of(call)),
                   1);
}

Tensor matmul_of_bytes(const Call& call) {
  const Tensor sums = left(call).matmul(right(call, 1), sums_of(call));
  return as_floats(call, sums, sums.ndim() - 1);
}

// Of weights, the zero point that was not taken from what they are multiplied with, their own, and bias: what is added
// to sums so that it does not matter.
Tensor bias_of_bytes(const Call& call) {
  const Tensor bytes = call.tensor(0), weights = bytes.cast(dtypes::i32);
  const std::int64_t axis = call.attr<std::int64_t>("axis");
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < bytes.ndim(); ++i)
    if (i != axis) others.push_back(i);
  const Tensor own =
      call.has(2) ? by_channel(call.tensor(2).cast(dtypes::i32), axis, bytes.ndim()) : Tensor();
  const Tensor sums = (own.is_null() ? weights : weights - own).sum(others, false, dtypes::i32);
  const Tensor moved = -(sums * call.ints(1).at(0));
  return call.has(3) ? moved + call.tensor(3) : moved;
}

// More by 128, or less, of which the other type holds all.
Tensor shifted_bytes(const Call& call) {
  const Tensor x = call.tensor(0);
  const DType other = x.dtype() == dtypes::i8 ? dtypes::u8 : dtypes::i8;
  return (x.bitcast(dtypes::u8) ^ 128).bitcast(other);
}

Tensor inverse_of_steps(const Call& call) { return 1 / call.tensor(0); }

Tensor step_of_sums(const Call& call) { return call.tensor(0).reshape(Shape{}) * call.tensor(1); }

// Inputs of what makes steps of floats: by what the size of one is the inverse of, if they are not counted in steps already,
// and from a zero point.
enum : std::size_t { of_floats, of_inverse, of_zero, of_size };

struct Steps {
  Tensor x, zero;
  double least, most;
};

Steps steps_of(const Call& call) {
  const Tensor x = call.tensor(of_floats).cast(dtypes::f32);
  const auto placed = [&](std::size_t input) {
    if (!call.has(input)) return Tensor();
    const Tensor given = call.tensor(input);
    const bool is_one = given.numel() == 1;
    const std::int64_t axis = is_one ? 0 : axis_of(call, call.attr("axis", 1), x.ndim());
    return by_channel(given, axis, x.ndim());
  };
  const Tensor inverse = placed(of_inverse);
  const bool is_signed = call.attr("is_signed", 0) != 0;
  return {inverse.is_null() ? x : x * inverse, placed(of_zero), is_signed ? -128.0 : 0.0,
          is_signed ? 127.0 : 255.0};
}

Tensor quantize_by_inverse(const Call& call) {
  const auto [x, zero, least, most] = steps_of(call);
  return nearest(x, zero, least, most, least < 0 ? dtypes::i8 : dtypes::u8);
}

// To what the nearest bytes stand for.
Tensor round_by_inverse(const Call& call) {
  const auto [x, zero, least, most] = steps_of(call);
  return rounded(x, zero, least, most) * by_channel(call.tensor(of_size), 0, x.ndim());
}

}  // namespace

OpTable bytes_ops() {
  static const Op ops[] = {
      {"BiasOfBytes", 1, bias_of_bytes},       {"ConvOfBytes", 1, conv_of_bytes},
      {"GemmOfBytes", 1, gemm_of_bytes},       {"InverseOfSteps", 1, inverse_of_steps},
      {"MatMulOfBytes", 1, matmul_of_bytes},   {"QuantizeByInverse", 1, quantize_by_inverse},
      {"RoundByInverse", 1, round_by_inverse}, {"ShiftedBytes", 1, shifted_bytes},
      {"StepOfSums", 1, step_of_sums},         {"WeightsOfBytes", 1, weights_of_bytes}};
  return {"weft", ops};
}

}  // namespace weft::onnx
