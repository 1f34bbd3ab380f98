// How weights begin.

#include <cmath>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/init.h>
#include <weft/linalg.h>

#include "draws.h"

namespace weft::init {
namespace {

constexpr double sqrt3 =
    1.7320508075688772;  // of a uniform distribution: its bound over its deviation

double deviation(const Shape& shape, const Kaiming& how) {
  const Fans fans = fans_of(shape);
  const std::int64_t fan = how.fan == Fan::In ? fans.in : fans.out;
  return gain(how.nonlinearity, how.slope) / std::sqrt(static_cast<double>(fan));
}

double xavier_deviation(const Shape& shape, double gain) {
  const Fans fans = fans_of(shape);
  return gain * std::sqrt(2 / static_cast<double>(fans.in + fans.out));
}

}  // namespace

Fans fans_of(const Shape& shape) {
  const Called called;
  const std::vector<Dim>& dims = shape.dims();
  if (dims.size() < 2)
    user_error(fmt::format("fans_of: a weight of {} axes has no inputs and outputs", dims.size()));
  const std::int64_t field =
      count_of("fans_of", Shape(std::vector<Dim>(dims.begin() + 2, dims.end())));
  return {constant_size("fans_of", dims[1].uop()) * field,
          constant_size("fans_of", dims[0].uop()) * field};
}

double gain(Nonlinearity nonlinearity, double slope) {
  const Called called;
  switch (nonlinearity) {
    case Nonlinearity::Linear:
    case Nonlinearity::Sigmoid: return 1;
    case Nonlinearity::Tanh: return 5.0 / 3;
    case Nonlinearity::Relu: return std::sqrt(2.0);
    case Nonlinearity::LeakyRelu: return std::sqrt(2 / (1 + slope * slope));
    case Nonlinearity::Selu: return 0.75;
  }
  return 1;
}

Tensor xavier_uniform(const Shape& shape, double gain, const Options& options) {
  const Called called;
  const double bound = sqrt3 * xavier_deviation(shape, gain);
  return Tensor::uniform(shape, -bound, bound, options);
}

Tensor xavier_normal(const Shape& shape, double gain, const Options& options) {
  return Called(), Tensor::normal(shape, 0, xavier_deviation(shape, gain), options);
}

Tensor kaiming_uniform(const Shape& shape, const Kaiming& how, const Options& options) {
  const Called called;
  const double bound = sqrt3 * deviation(shape, how);
  return Tensor::uniform(shape, -bound, bound, options);
}

Tensor kaiming_normal(const Shape& shape, const Kaiming& how, const Options& options) {
  return Called(), Tensor::normal(shape, 0, deviation(shape, how), options);
}

Tensor trunc_normal(const Shape& shape, const random::TruncatedNormal& how,
                    const Options& options) {
  return Called(), random::truncated_normal(shape, how, options);
}

// Q of normal numbers, its columns turned so that R's diagonal is positive: each such matrix is equally likely.
Tensor orthogonal(const Shape& shape, double gain, const Options& options) {
  const Called called;
  if (shape.dims().size() < 2)
    user_error(fmt::format("orthogonal: a weight of {} axes has no rows and columns",
                           shape.dims().size()));
  const DType dtype = options.dtype.is_void() ? dtypes::f32 : options.dtype;
  const Options within{.dtype = promote(dtype, dtypes::f32), .device = options.device};
  const Tensor flat = Tensor::randn(shape, within).flatten(1);
  const bool is_wide = flat.size(0) < flat.size(1);
  const auto [q, r] = linalg::qr(is_wide ? flat.T() : flat);
  const Tensor turned = (r.diagonal() < 0).where(-q, q);
  const Tensor whole = (is_wide ? turned.T() : turned).reshape(shape);
  return as_asked((whole * gain).cast(dtype), options);
}

}  // namespace weft::init
