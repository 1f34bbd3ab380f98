// What layers begin with.
#pragma once

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>
#include <weft/tensor.h>

namespace weft::nn {

// A layer's, of which it says dtype and device.
template <class LayerOptions>
Options learned(const LayerOptions& options) {
  return {.dtype = options.dtype, .device = options.device, .requires_grad = true};
}
template <class LayerOptions>
Options kept(const LayerOptions& options) {
  return {.dtype = options.dtype, .device = options.device};
}

// Within 1 / sqrt(inputs).
inline Tensor uniform_of_fan(const Shape& shape, std::int64_t inputs, const Options& options) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  return Tensor::uniform(shape, -bound, bound, options);
}

// One value everywhere, in memory of its own: what is assigned to at each step is the same kernel every time.
inline Tensor in_memory(const Shape& shape, Scalar value, const Options& options = {}) {
  Tensor tensor = Tensor::empty(shape, options);
  tensor.fill(value);
  return tensor;
}

// A number that kernels read from memory, so that another one makes no other kernel.
template <class Number>
Tensor number_on(const std::string& device, Number value) {
  return Tensor(std::vector{value}).reshape({}).to(device);
}

inline void want_all(const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t size : sizes)
    if (size < 1)
      user_error(fmt::format("sizes {} are not all at least 1", fmt::join(sizes, ", ")));
}
inline void want_sizes(std::initializer_list<std::int64_t> sizes) { want_all(sizes); }

inline void want_dropout(double dropout) {
  if (!(dropout >= 0 && dropout <= 1))
    user_error(fmt::format("a dropout of {} is not from 0 to 1", dropout));
}

inline DType at_least_f32(const Tensor& x) { return promote(x.dtype(), dtypes::f32); }

inline Tensor plus(const Tensor& x, const Tensor& bias) { return bias.is_null() ? x : x + bias; }

}  // namespace weft::nn
