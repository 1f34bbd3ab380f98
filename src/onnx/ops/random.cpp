// Random tensors. A node with a seed draws the same numbers whenever it runs.

#include <bit>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "tables.h"

namespace weft::onnx {
namespace {

// From 0 to below 1, in f32; the other numbers of a node are those of the next stream.
Tensor uniform(const Call& call, const Shape& shape, std::uint64_t stream = 0) {
  if (!call.has("seed")) return Tensor::rand(shape, call.options(dtypes::f32));
  const auto seed = std::bit_cast<std::uint32_t>(static_cast<float>(call.attr<double>("seed")));
  const Tensor none = Tensor::zeros(shape, call.options(dtypes::f32));
  const std::vector<std::uint64_t> key{stream << 32 | seed}, start{0};
  const Tensor bits =
      Tensor::random_bits(Tensor(key, call.options()), Tensor(start, call.options()), none.numel());
  return ((bits >> 8).cast(dtypes::f32) * 0x1p-24).reshape(none.dims());
}

// Box and Muller's.
Tensor normal(const Call& call, const Shape& shape) {
  const Tensor radius = ((1 - uniform(call, shape)).log() * -2).sqrt();
  return radius * (uniform(call, shape, 1) * (2 * std::numbers::pi)).cos();
}

Tensor scaled_uniform(const Call& call, const Shape& shape, DType dtype) {
  const double low = call.attr("low", 0.0), high = call.attr("high", 1.0);
  return (uniform(call, shape) * (high - low) + low).cast(dtype);
}

Tensor scaled_normal(const Call& call, const Shape& shape, DType dtype) {
  return (normal(call, shape) * call.attr("scale", 1.0) + call.attr("mean", 0.0)).cast(dtype);
}

DType dtype_or(const Call& call, DType otherwise) {
  return call.has("dtype") ? dtype_of(call.attr<Type>("dtype")) : otherwise;
}

using Draw = Tensor (*)(const Call& call, const Shape& shape, DType dtype);

template <Draw F>
Tensor of_shape(const Call& call) {
  return F(call, call.attr<std::vector<std::int64_t>>("shape"), dtype_or(call, dtypes::f32));
}

template <Draw F>
Tensor like(const Call& call) {
  const Tensor x = call.tensor(0);
  return F(call, x.dims(), dtype_or(call, x.dtype()));
}

Tensor bernoulli(const Call& call) {
  const Tensor p = call.tensor(0);
  return (uniform(call, p.dims()) < p).cast(dtype_or(call, p.dtype()));
}

// How many of the running sums of the probabilities a number is not below says which class it hits.
Tensor multinomial(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::int64_t samples = call.attr("sample_size", 1);
  if (x.ndim() != 2) call.refuse(fmt::format("an input of {} axes: want 2", x.ndim()));
  if (samples < 0) call.refuse(fmt::format("{} samples", samples));
  const Tensor ends = x.cast(dtypes::f32).softmax().cumsum(1).slice(1, {.stop = -1});
  const Tensor draws = uniform(call, {x.dims()[0], samples});
  const Tensor hit = (draws.unsqueeze(2) >= ends.unsqueeze(1)).sum(2, false, dtypes::i32);
  return hit.cast(dtype_or(call, dtypes::i32));
}

}  // namespace

OpTable random_ops() {
  static const Op ops[] = {
      {"Bernoulli", 15, bernoulli},
      {"Multinomial", 7, multinomial},
      {"RandomNormal", 1, of_shape<scaled_normal>},
      {"RandomNormalLike", 1, like<scaled_normal>},
      {"RandomUniform", 1, of_shape<scaled_uniform>},
      {"RandomUniformLike", 1, like<scaled_uniform>},
  };
  return {"", ops};
}

}  // namespace weft::onnx
