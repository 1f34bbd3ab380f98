// Normalisation.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {

namespace {

// A tensor whose axes are these ones of x, with 1 as the size of all others.
Tensor in_axes(const char* op, const Tensor& tensor, const Tensor& x, const AxisList& list) {
  const std::vector<Dim> own = x.dims();
  std::vector<Dim> sizes(own.size(), Dim(1));
  Sizes wanted;
  for (std::int64_t axis : axes_of(op, list, x.ndim())) {
    const auto at = static_cast<std::size_t>(axis);
    sizes[at] = own[at];
    wanted.push_back(own[at].uop());
  }
  if (!std::ranges::equal(tensor.uop()->dims(), wanted, {}, {}, &UOp::node))
    user_error(fmt::format("{}: a weight or bias of shape {} for axes of sizes {}", op,
                           shape_text(tensor.uop()), sizes_text(wanted)));
  return tensor.reshape(Shape(sizes));
}

}  // namespace

Tensor Tensor::layernorm(const AxisList& axes, double eps, const Tensor& weight,
                         const Tensor& bias) const {
  const Called called;
  const DType own = float_like(dtype());
  const Tensor x = cast(promote(own, dtypes::f32));
  const Tensor centred = x - x.mean(axes, true);
  Tensor normal = centred * (centred.square().mean(axes, true) + eps).rsqrt();
  if (!weight.is_null()) normal = normal * in_axes("layernorm", weight, x, axes);
  if (!bias.is_null()) normal = normal + in_axes("layernorm", bias, x, axes);
  return normal.cast(own);
}

Tensor Tensor::rmsnorm(std::int64_t axis, double eps, const Tensor& weight) const {
  const Called called;
  const DType own = float_like(dtype());
  const Tensor x = cast(promote(own, dtypes::f32));
  const Tensor normal = x * (x.square().mean(axis, true) + eps).rsqrt();
  if (weight.is_null()) return normal.cast(own);
  return (normal * in_axes("rmsnorm", weight, x, axis)).cast(own);
}

Tensor Tensor::batchnorm(const Tensor& weight, const Tensor& bias, const Tensor& mean,
                         const Tensor& invstd, std::int64_t axis) const {
  const Called called;
  axis = axis_of("batchnorm", axis, ndim());
  std::vector<Dim> apart(static_cast<std::size_t>(ndim()), Dim(1));
  apart[static_cast<std::size_t>(axis)] = Dim(size(axis));
  const auto along = [&](const Tensor& tensor) {
    return tensor.ndim() == 1 ? tensor.reshape(Shape(apart)) : tensor;
  };
  Tensor normal = (*this - along(mean)) * along(invstd);
  if (!weight.is_null()) normal = normal * along(weight);
  return bias.is_null() ? normal : normal + along(bias);
}

}  // namespace weft
