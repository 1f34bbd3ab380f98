// Reductions over axes, and what is made of them.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "functions.h"
#include "largest.h"
#include "ops.h"

namespace weft {
namespace {

Tensor without(const Tensor& reduced, const Axes& axes, bool keepdim) {
  return keepdim ? reduced : reduced.squeeze(axes);
}

Tensor reduced(std::string_view op, Op combine, const Tensor& tensor, const AxisList& list,
               bool keepdim) {
  const Operand x(tensor);
  const Axes axes = axes_of(op, list, std::ssize(x.uop()->dims()));
  return without(result(op, reduce(combine, x.uop(), axes), {&x}), axes, keepdim);
}

Tensor accumulated(std::string_view op, Op combine, const Tensor& tensor, const AxisList& axes,
                   bool keepdim, DType wanted) {
  const SumTypes types = sum_types(tensor.dtype(), wanted);
  const Tensor terms = tensor.cast(types.terms).cast(types.within);
  return reduced(op, combine, terms, axes, keepdim).cast(types.result);
}

// How many elements come together, without so many, as a float that is divided by.
Operand count_of(std::string_view op, const Tensor& tensor, const AxisList& list, DType dtype,
                 std::int64_t without = 0) {
  UOp count = const_int(1);
  for (std::int64_t axis : axes_of(op, list, tensor.ndim()))
    count = count * UOp(tensor.uop()->dims()[static_cast<std::size_t>(axis)]);
  if (without != 0) count = max(count - without, const_int(0));
  return {converted(count, dtype), Symbol(), false};
}

void want_elements(std::string_view op, const Tensor& tensor, const AxisList& list) {
  const NodeList dims = tensor.uop()->dims();
  for (std::int64_t axis : axes_of(op, list, tensor.ndim()))
    if (dims[static_cast<std::size_t>(axis)]->is_const_int(0))
      user_error(fmt::format("{}: axis {} of shape {} has no elements", op, axis,
                             shape_text(tensor.uop())));
}

// Turns the order around, exactly: the least becomes the largest.
Tensor turned(const Tensor& tensor) { return tensor.dtype().is_float() ? -tensor : ~tensor; }

// The largest number of those that count down from the front is that of the first extreme.
Tensor first_largest(std::string_view op, const Tensor& tensor, std::optional<std::int64_t> chosen,
                     bool keepdim) {
  want_elements(op, tensor, chosen ? AxisList(*chosen) : AxisList());
  const auto axes = static_cast<std::size_t>(tensor.ndim());
  if (!chosen || axes == 0) {
    const Tensor place = first_largest(op, tensor.flatten(), 0, false);
    return keepdim ? place.reshape(std::vector<Dim>(axes, Dim(1))) : place;
  }
  const std::int64_t axis = axis_of(op, *chosen, tensor.ndim());
  const std::int64_t size = tensor.size(axis);
  std::vector<Dim> apart(axes, Dim(1));
  apart[static_cast<std::size_t>(axis)] = Dim(size);
  const Tensor behind =
      Tensor::arange(size, 0, -1, {.device = tensor.device()}).reshape(Shape(apart));
  return size - first_of(tensor, tensor.max(axis, true), behind, axis, keepdim);
}

}  // namespace

Tensor Tensor::sum(const AxisList& axes, bool keepdim, DType dtype) const {
  return Called(), accumulated("sum", Op::Add, *this, axes, keepdim, dtype);
}

Tensor Tensor::prod(const AxisList& axes, bool keepdim, DType dtype) const {
  return Called(), accumulated("prod", Op::Mul, *this, axes, keepdim, dtype);
}

Tensor Tensor::max(const AxisList& axes, bool keepdim) const {
  const Called called;
  want_elements("max", *this, axes);
  return reduced("max", Op::Max, *this, axes, keepdim);
}

Tensor Tensor::min(const AxisList& axes, bool keepdim) const {
  const Called called;
  want_elements("min", *this, axes);
  return turned(reduced("min", Op::Max, turned(*this), axes, keepdim));
}

Tensor Tensor::any(const AxisList& axes, bool keepdim) const {
  return Called(), reduced("any", Op::Max, cast(dtypes::bool_), axes, keepdim);
}

Tensor Tensor::all(const AxisList& axes, bool keepdim) const {
  return Called(), !reduced("all", Op::Max, logical_not(), axes, keepdim);
}

Tensor Tensor::mean(const AxisList& axes, bool keepdim) const {
  const Called called;
  const DType own = float_like(dtype());
  const DType wide = promote(own, dtypes::f32);
  return (cast(wide).sum(axes, keepdim) / count_of("mean", *this, axes, wide)).cast(own);
}

namespace {

Tensor wide_variance(std::string_view op, const Tensor& x, const AxisList& axes, bool keepdim,
                     std::int64_t correction) {
  const Tensor squares = (x - x.mean(axes, true)).square().sum(axes, keepdim);
  return squares / count_of(op, x, axes, x.dtype(), correction);
}

Tensor variance(std::string_view op, const Tensor& tensor, const AxisList& axes, bool keepdim,
                std::int64_t correction) {
  return widely(tensor,
                [&](const Tensor& x) { return wide_variance(op, x, axes, keepdim, correction); });
}

// A narrow float has the root where the variance is out of its range.
Tensor deviation(std::string_view op, const Tensor& tensor, const AxisList& axes, bool keepdim,
                 std::int64_t correction) {
  return widely(tensor, [&](const Tensor& x) {
    return root_of(wide_variance(op, x, axes, keepdim, correction));
  });
}

bool is_empty(const Tensor& tensor) {
  return std::ranges::any_of(tensor.dims(), [](const Dim& d) { return d.uop()->is_const_int(0); });
}

}  // namespace

Tensor Tensor::var(const AxisList& axes, bool keepdim, std::int64_t correction) const {
  return Called(), variance("var", *this, axes, keepdim, correction);
}

Tensor Tensor::std(const AxisList& axes, bool keepdim, std::int64_t correction) const {
  return Called(), deviation("std", *this, axes, keepdim, correction);
}

std::pair<Tensor, Tensor> Tensor::var_mean(const AxisList& axes, bool keepdim,
                                           std::int64_t correction) const {
  const Called called;
  return {variance("var_mean", *this, axes, keepdim, correction), mean(axes, keepdim)};
}

std::pair<Tensor, Tensor> Tensor::std_mean(const AxisList& axes, bool keepdim,
                                           std::int64_t correction) const {
  const Called called;
  return {deviation("std_mean", *this, axes, keepdim, correction), mean(axes, keepdim)};
}

std::pair<Tensor, Tensor> Tensor::aminmax(const AxisList& axes, bool keepdim) const {
  const Called called;
  want_elements("aminmax", *this, axes);
  return {min(axes, keepdim), max(axes, keepdim)};
}

Tensor Tensor::nansum(const AxisList& axes, bool keepdim, DType dtype) const {
  return Called(), accumulated("nansum", Op::Add, isnan().where(0, *this), axes, keepdim, dtype);
}

// Of nothing but NaN it is NaN.
Tensor Tensor::nanmean(const AxisList& axes, bool keepdim) const {
  const Called called;
  const DType own = float_like(dtype()), wide = promote(own, dtypes::f32);
  axes_of("nanmean", axes, ndim());
  const Tensor count = isnan().logical_not().sum(axes, keepdim);
  return (cast(wide).nansum(axes, keepdim) / count.cast(wide)).cast(own);
}

Tensor Tensor::argmax(std::optional<std::int64_t> axis, bool keepdim) const {
  return Called(), first_largest("argmax", *this, axis, keepdim);
}

Tensor Tensor::argmin(std::optional<std::int64_t> axis, bool keepdim) const {
  return Called(), first_largest("argmin", turned(*this), axis, keepdim);
}

// Less the largest, exp does not overflow; it has no say in the gradient. No elements have no largest.
Tensor Tensor::logsumexp(const AxisList& axes, bool keepdim) const {
  const Called called;
  const AxisList over = axes_of("logsumexp", axes, ndim());
  if (is_empty(*this)) return exp().sum(axes, keepdim).log();
  return widely(*this, [&](const Tensor& x) {
    const Tensor top = x.max(axes, true).detach();
    const Tensor least = top.isfinite().where(top, 0);
    const Tensor sum = (x - least).exp().sum(axes, true).log() + least;
    return keepdim ? sum : sum.squeeze(over);
  });
}

namespace {

Tensor in_float(std::string_view op, const Tensor& tensor, DType dtype) {
  if (!dtype.is_float()) user_error(fmt::format("{}: {} is no float", op, dtype.str()));
  return tensor.cast(dtype);
}

}  // namespace

Tensor Tensor::softmax(std::int64_t axis, DType dtype) const {
  const Called called;
  axes_of("softmax", axis, ndim());
  if (!dtype.is_void()) return in_float("softmax", *this, dtype).softmax(axis);
  if (is_empty(*this)) return exp();
  return widely(*this, [&](const Tensor& x) {
    const Tensor e = (x - x.max(axis, true).detach()).exp();
    return e * e.sum(axis, true).reciprocal();  // one division for all of them
  });
}

Tensor Tensor::log_softmax(std::int64_t axis, DType dtype) const {
  const Called called;
  axes_of("log_softmax", axis, ndim());
  if (!dtype.is_void()) return in_float("log_softmax", *this, dtype).log_softmax(axis);
  if (is_empty(*this)) return exp();
  return widely(*this, [&](const Tensor& x) {
    const Tensor rest = x - x.max(axis, true).detach();
    return rest - rest.exp().sum(axis, true).log();
  });
}

}  // namespace weft
