// Fourier transforms along any axes, of real and complex tensors.

#include <weft/fft.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <weft/error.h>

#include "dft.h"
#include "ops.h"

namespace weft::fft {
namespace {

// --- Along any axis --------------------------------------------------------------------------------

void want_complex(std::string_view op, const Tensor& x) {
  if (x.ndim() < 2 || x.size(-1) != 2)
    user_error(
        fmt::format("{}: shape {} is not that of a complex tensor, whose last axis has 2 parts", op,
                    shape_text(x.uop())));
}

Tensor as_float(const Tensor& x) { return x.cast(promote(float_like(x.dtype()), dtypes::f32)); }

double scale_of(std::int64_t n, int sign, Norm norm) {
  if (norm == Norm::Ortho) return 1 / std::sqrt(static_cast<double>(n));
  return (norm == Norm::Forward) == (sign < 0) ? 1 / static_cast<double>(n) : 1;
}

// What an axis is to be cut or filled up to.
std::int64_t length(std::string_view op, std::int64_t given, std::int64_t least) {
  if (given < least)
    user_error(fmt::format("{}: a transform of {} elements: want at least {}", op, given, least));
  return given;
}

// Axis `dim` cut or filled up to n elements, moved to the end, in front of the parts.
Tensor prepared(const Tensor& x, std::int64_t dim, std::int64_t n) {
  const std::int64_t size = x.size(dim);
  Tensor::Bounds padding(static_cast<std::size_t>(x.ndim()), {0, 0});
  padding[static_cast<std::size_t>(dim)].second = std::max<std::int64_t>(0, n - size);
  const Tensor fitting = n < size ? x.slice(dim, {.stop = n}) : n > size ? x.pad(padding) : x;
  return fitting.transpose(dim, -2);
}

std::int64_t dim_of(std::string_view op, const Tensor& x, std::int64_t dim) {
  return axis_of(op, dim, x.ndim() - 1);
}

Tensor complex_transform(std::string_view op, const Tensor& x, const Axis& axis, int sign) {
  want_complex(op, x);
  const std::int64_t dim = dim_of(op, x, axis.dim), n = length(op, axis.n.value_or(x.size(dim)), 1);
  const Tensor result = transform(prepared(as_float(x), dim, n), sign);
  const double scale = scale_of(n, sign, axis.norm);
  return (scale == 1 ? result : result * scale).transpose(dim, -2).cast(float_like(x.dtype()));
}

Tensor half_of_real(std::string_view op, const Tensor& x, const Axis& axis) {
  if (x.ndim() == 0) user_error(fmt::format("{}: a scalar has no axis to transform", op));
  const Tensor parts = as_float(x).unsqueeze(-1);
  const std::int64_t dim = dim_of(op, parts, axis.dim),
                     n = length(op, axis.n.value_or(x.size(dim)), 1);
  const Tensor half = transform(prepared(parts, dim, n), -1).slice(-2, {.stop = n / 2 + 1});
  const double scale = scale_of(n, -1, axis.norm);
  return (scale == 1 ? half : half * scale).transpose(dim, -2).cast(float_like(x.dtype()));
}

// The other half is the conjugate of the first, backwards.
Tensor real_of_half(std::string_view op, const Tensor& x, const Axis& axis) {
  want_complex(op, x);
  const std::int64_t dim = dim_of(op, x, axis.dim),
                     n = length(op, axis.n.value_or(2 * (x.size(dim) - 1)), 1);
  const Tensor half = prepared(as_float(x), dim, n / 2 + 1);
  const Tensor other = conj(half.slice(-2, {.start = 1, .stop = (n + 1) / 2}).flip(-2));
  const Tensor whole = n > 2 ? Tensor::cat({half, other}, -2) : half;
  const Tensor result = real(transform(whole, 1).transpose(dim, -2));
  const double scale = scale_of(n, 1, axis.norm);
  return (scale == 1 ? result : result * scale).cast(float_like(x.dtype()));
}

// The axes to transform and their sizes; `axes` counts those of values, without parts.
std::vector<Axis> each(std::string_view op, const Several& axes, std::int64_t ndim) {
  std::vector<std::int64_t> dims = axes.dim;
  if (dims.empty()) {
    const auto count = axes.s.empty() ? ndim : std::ssize(axes.s);
    for (std::int64_t i = -count; i < 0; ++i) dims.push_back(i);
  }
  if (!axes.s.empty() && axes.s.size() != dims.size())
    user_error(fmt::format("{}: {} sizes for {} axes", op, axes.s.size(), dims.size()));
  const Axes found = axes_of(op, dims, ndim);
  if (found.empty()) user_error(fmt::format("{}: no axis to transform", op));
  std::vector<Axis> result;
  for (std::size_t i = 0; i < found.size(); ++i)
    result.push_back({axes.s.empty() || axes.s[i] == -1 ? std::optional<std::int64_t>() : axes.s[i],
                      found[i], axes.norm});
  return result;
}

Several last_two(Several axes) {
  if (axes.dim.empty()) axes.dim = {-2, -1};
  return axes;
}

Norm opposite(Norm norm) {
  if (norm == Norm::Ortho) return norm;
  return norm == Norm::Forward ? Norm::Backward : Norm::Forward;
}

}  // namespace

Tensor complex(const Tensor& real, const Tensor& imag) {
  return Called(), Tensor::stack({real, imag.is_null() ? real.zeros_like() : imag}, -1);
}
Tensor real(const Tensor& x) {
  const Called called;
  want_complex("real", x);
  return x.slice(-1, {.stop = 1}).squeeze(-1);
}
Tensor imag(const Tensor& x) {
  const Called called;
  want_complex("imag", x);
  return x.slice(-1, {.start = 1}).squeeze(-1);
}
Tensor conj(const Tensor& x) {
  const Called called;
  want_complex("conj", x);
  return x * (1 - Tensor::arange(2, {.dtype = x.dtype(), .device = x.device()}) * 2);
}
Tensor multiply(const Tensor& x, const Tensor& y) {
  const Called called;
  want_complex("multiply", x);
  want_complex("multiply", y);
  return times(x, y);
}

Tensor fft(const Tensor& x, const Axis& axis) {
  return Called(), complex_transform("fft", x, axis, -1);
}
Tensor ifft(const Tensor& x, const Axis& axis) {
  return Called(), complex_transform("ifft", x, axis, 1);
}
Tensor rfft(const Tensor& x, const Axis& axis) { return Called(), half_of_real("rfft", x, axis); }
Tensor irfft(const Tensor& x, const Axis& axis) { return Called(), real_of_half("irfft", x, axis); }
Tensor hfft(const Tensor& x, const Axis& axis) {
  const Called called;
  want_complex("hfft", x);
  return real_of_half("hfft", conj(x), {axis.n, axis.dim, opposite(axis.norm)});
}
Tensor ihfft(const Tensor& x, const Axis& axis) {
  return Called(), conj(half_of_real("ihfft", x, {axis.n, axis.dim, opposite(axis.norm)}));
}

Tensor fftn(const Tensor& x, const Several& axes) {
  const Called called;
  want_complex("fftn", x);
  Tensor result = x;
  for (const Axis& axis : each("fftn", axes, x.ndim() - 1))
    result = complex_transform("fftn", result, axis, -1);
  return result;
}

Tensor ifftn(const Tensor& x, const Several& axes) {
  const Called called;
  want_complex("ifftn", x);
  Tensor result = x;
  for (const Axis& axis : each("ifftn", axes, x.ndim() - 1))
    result = complex_transform("ifftn", result, axis, 1);
  return result;
}

Tensor rfftn(const Tensor& x, const Several& axes) {
  const Called called;
  std::vector<Axis> all = each("rfftn", axes, x.ndim());
  Tensor result = half_of_real("rfftn", x, all.back());
  all.pop_back();
  for (const Axis& axis : all) result = complex_transform("rfftn", result, axis, -1);
  return result;
}

Tensor irfftn(const Tensor& x, const Several& axes) {
  const Called called;
  want_complex("irfftn", x);
  std::vector<Axis> all = each("irfftn", axes, x.ndim() - 1);
  const Axis halved = all.back();
  all.pop_back();
  Tensor result = x;
  for (const Axis& axis : all) result = complex_transform("irfftn", result, axis, 1);
  return real_of_half("irfftn", result, halved);
}

Tensor fft2(const Tensor& x, Several axes) { return Called(), fftn(x, last_two(std::move(axes))); }
Tensor ifft2(const Tensor& x, Several axes) {
  return Called(), ifftn(x, last_two(std::move(axes)));
}
Tensor rfft2(const Tensor& x, Several axes) {
  return Called(), rfftn(x, last_two(std::move(axes)));
}
Tensor irfft2(const Tensor& x, Several axes) {
  return Called(), irfftn(x, last_two(std::move(axes)));
}

namespace {

Tensor numbers(std::int64_t start, std::int64_t stop, const Options& options) {
  Options floats = options;
  if (floats.dtype.is_void()) floats.dtype = dtypes::f32;
  floats.requires_grad = false;
  return Tensor::arange(start, stop, 1, floats);
}

Tensor shifted(std::string_view op, const Tensor& x, const AxisList& dim, bool back) {
  Tensor result = x;
  for (std::int64_t axis : axes_of(op, dim, x.ndim())) {
    const std::int64_t size = x.size(axis);
    result = result.roll(back ? -(size / 2) : size / 2, axis);
  }
  return result;
}

}  // namespace

Tensor fftfreq(std::int64_t n, double d, const Options& options) {
  const Called called;
  length("fftfreq", n, 1);
  const Tensor all = Tensor::cat({numbers(0, (n + 1) / 2, options), numbers(-(n / 2), 0, options)});
  return as_asked(all / (static_cast<double>(n) * d), options);
}

Tensor rfftfreq(std::int64_t n, double d, const Options& options) {
  const Called called;
  length("rfftfreq", n, 1);
  return as_asked(numbers(0, n / 2 + 1, options) / (static_cast<double>(n) * d), options);
}

Tensor fftshift(const Tensor& x, const AxisList& dim) {
  return Called(), shifted("fftshift", x, dim, false);
}
Tensor ifftshift(const Tensor& x, const AxisList& dim) {
  return Called(), shifted("ifftshift", x, dim, true);
}

}  // namespace weft::fft
