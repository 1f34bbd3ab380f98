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

void want_axes(const char* op, const Shape& shape, std::size_t least, std::size_t most) {
  if (const std::size_t axes = shape.dims().size(); axes < least || axes > most)
    user_error(fmt::format(
        "{}: a weight of {} axes: want {}", op, axes,
        least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most)));
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

Tensor eye(const Shape& shape, const Options& options) {
  const Called called;
  want_axes("eye", shape, 2, 2);
  return Tensor::eye(shape.dims()[0], shape.dims()[1], options);
}

Tensor dirac(const Shape& shape, std::int64_t groups, const Options& options) {
  const Called called;
  want_axes("dirac", shape, 3, 5);
  const std::vector<Dim>& dims = shape.dims();
  const std::int64_t out = constant_size("dirac", dims[0].uop());
  if (groups < 1 || out % groups != 0)
    user_error(fmt::format("dirac: {} outputs are not in {} groups", out, groups));
  const auto places = [&](std::size_t axis) {
    std::vector<Dim> alone(dims.size(), Dim(1));
    alone[axis] = dims[axis];
    const std::int64_t size = constant_size("dirac", dims[axis].uop());
    return Tensor::arange(size, {.device = options.device}).reshape(alone);
  };
  Tensor is_one = places(0) % (out / groups) == places(1);
  for (std::size_t axis = 2; axis < dims.size(); ++axis)
    is_one = is_one & (places(axis) == constant_size("dirac", dims[axis].uop()) / 2);
  const DType dtype = options.dtype.is_void() ? dtypes::f32 : options.dtype;
  return as_asked(is_one.cast(dtype), options);
}

// Which rows are 0 is a random order of them, of each column its own.
Tensor sparse(const Shape& shape, double sparsity, double std, const Options& options) {
  const Called called;
  want_axes("sparse", shape, 2, 2);
  if (!(sparsity >= 0 && sparsity <= 1))
    user_error(fmt::format("sparse: a share of {} is not from 0 to 1", sparsity));
  const auto rows = static_cast<double>(constant_size("sparse", shape.dims()[0].uop()));
  const auto zeros = static_cast<std::int64_t>(std::ceil(rows * sparsity));
  const Tensor order = random_keys("sparse", shape, options).argsort(0).argsort(0);
  const Options plain{.dtype = options.dtype, .device = options.device};
  return as_asked((order >= zeros).where(Tensor::normal(shape, 0, std, plain), 0), options);
}

}  // namespace weft::init
