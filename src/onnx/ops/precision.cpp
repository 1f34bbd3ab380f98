// What layers in cheaper numbers are made of (../precision.cpp). No file has these.

#include <algorithm>
#include <cmath>
#include <numbers>

#include <weft/dev/tensor/short_erf.h>

#include "axes.h"
#include "conv_input.h"
#include "sliding.h"
#include "tables.h"

namespace weft::onnx {
namespace {

constexpr double most_i8 = 127, most_i32 = 2147483647;

// In memory of its own: what is computed of it is not what is computed of the other.
Tensor apart(const Call& call) { return call.tensor(0).contiguous(); }

// Floats that are wider become these.
Tensor narrow(const Call& call) {
  const Tensor x = call.tensor(0);
  const DType to = dtype_of(call.attr<Type>("to"));
  return x.dtype().is_float() && x.dtype().bits() > to.bits() ? x.cast(to) : x;
}

// In the type of the second, which changes: so kernels read what is narrow, and sum what is wide.
Tensor widen(const Call& call) { return call.tensor(0).cast(call.tensor(1).dtype()); }

// A convolution whose input lies in memory, narrow and with what is around it.
Tensor surrounded_conv(const Call& call) {
  const DType wide = call.tensor(0).dtype(), narrow = dtype_of(call.attr<Type>("to"));
  const bool has_few = call.attr("has_few_channels", 0) != 0;
  const Tensor given = call.tensor(0).cast(narrow);
  Tensor weight = call.tensor(1);
  auto [x, options] = padded_input(call, has_few ? given : given.contiguous(), weight);
  if (has_few)
    gather_channels(x, weight);
  else
    x = place_by_place(x);
  return x.cast(wide).conv(weight, call.tensor_or_null(2), options);
}

// As steps of i8 from -127 to 127, and the size of a step: one for each place of an axis, so small that sums of
// products of all that share it are within i32, or one for all.
Values quantize(const Call& call) {
  const Tensor x = call.tensor(0);
  if (!x.dtype().is_float()) call.refuse("int8 is for products of floats");
  const bool is_split = call.has("axis") && x.ndim() > 1;
  const std::int64_t axis = is_split ? axis_of(call, call.attr("axis", 0), x.ndim()) : -1;
  double steps = most_i8;
  std::vector<std::int64_t> shared;
  for (std::int64_t i = 0; i < x.ndim(); ++i)
    if (i != axis) shared.push_back(i);
  if (is_split) {
    double products = 1;
    const std::vector<std::int64_t> shape = x.max_shape();
    for (const std::int64_t each : shared)
      products *= static_cast<double>(shape[static_cast<std::size_t>(each)]);
    steps = std::clamp(std::floor(most_i32 / most_i8 / std::max(products, 1.0)), 1.0, most_i8);
  }
  const Tensor wide = x.cast(dtypes::f32), largest = wide.abs().max(shared, true);
  const Tensor step = (largest == 0).where(1, largest) / steps;
  const Tensor numbers = (wide / step).round().clamp(-steps, steps).cast(dtypes::i8);
  return {numbers, (is_split ? step.flatten() : step.reshape(Shape{})).cast(x.dtype())};
}

// Beside the second, which changes where the first does not: what is kept of a constant are its steps.
Tensor integers(const Call& call) { return call.tensor(0).cast(dtypes::i32); }

// Sums of products of steps, by the sizes of these: alpha sums + beta bias.
Tensor rescale(const Call& call) {
  const Tensor sums = call.tensor(0), own = call.tensor(1);
  const std::int64_t axis = call.attr("axis", -1), rank = sums.ndim();
  const auto placed = [&](const Tensor& x) {
    const Tensor wide = x.cast(dtypes::f32);
    return x.ndim() == 1 ? along(wide, axis < 0 ? axis + rank : axis, rank) : wide;
  };
  Tensor y = sums.cast(dtypes::f32) * (own.cast(dtypes::f32) * placed(call.tensor(2)));
  if (const double alpha = call.attr("alpha", 1.0); alpha != 1) y = y * alpha;
  if (call.has(3)) y = y + placed(call.tensor(3)) * call.attr("beta", 1.0);
  return y.cast(own.dtype());
}

// Other types have their own, which is not rounded to fewer bits, or computed in more.
Tensor short_erf_of(const Call& call) {
  const Tensor x = call.tensor(0);
  return x.dtype() == dtypes::f32 ? short_erf(x) : x.erf().cast(x.dtype());
}

Tensor short_gelu(const Call& call) {
  const Tensor x = call.tensor(0), half = x * 0.5;
  if (x.dtype() != dtypes::f32) return x.gelu(Gelu::Exact);
  return half * short_erf(x * (1 / std::numbers::sqrt2)) + half;
}

}  // namespace

OpTable precision_ops() {
  static const Op ops[] = {
      {"Apart", 1, apart},          {"Integers", 1, integers},
      {"Narrow", 1, narrow},        {"Quantize", 1, quantize},
      {"Rescale", 1, rescale},      {"ShortErf", 1, short_erf_of},
      {"ShortGelu", 1, short_gelu}, {"SurroundedConv", 1, surrounded_conv},
      {"Widen", 1, widen},
  };
  return {"weft", ops};
}

}  // namespace weft::onnx
