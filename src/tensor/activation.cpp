// Activations. At kinks gradients are those that users of other libraries know.

#include <cmath>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/functional.h>

#include "functions.h"

namespace weft {

Tensor Tensor::hardsigmoid(double alpha, double beta) const {
  return Called(), (*this * alpha + beta).clamp(0, 1);
}

Tensor Tensor::hardswish() const {
  const Called called;
  const Tensor middle = *this * (*this + 3) * (1.0 / 6);
  return (*this <= -3).where(*this * 0, (*this < 3).where(middle, *this));
}

namespace {

// x above 0, and below (exp(x / width) - 1) * height, which near 0 keeps the digits that x has.
Tensor exponential_unit(const Tensor& x, double height, double width) {
  const auto below = [width](const Tensor& wide) { return (wide > 0).where(0, wide) / width; };
  return with_slope(
      x,
      [&](const Tensor& wide) { return (wide > 0).where(wide, plain_expm1(below(wide)) * height); },
      [=](const Tensor& wide, const Tensor&) {
        return (wide > 0).where(1, below(wide).exp() * (height / width));
      });
}

}  // namespace

Tensor Tensor::elu(double alpha) const { return Called(), exponential_unit(*this, alpha, 1); }

Tensor Tensor::celu(double alpha) const {
  const Called called;
  if (alpha == 0) user_error("celu: alpha is 0: want another number");
  return exponential_unit(*this, alpha, alpha);
}

Tensor Tensor::selu(double alpha, double gamma) const { return Called(), elu(alpha) * gamma; }
Tensor Tensor::softsign() const {
  return Called(), widely(*this, [](const Tensor& x) { return x / (x.abs() + 1); });
}

namespace functional {

Tensor hardshrink(const Tensor& x, double lambda) {
  return Called(), ((x >= -lambda) & (x <= lambda)).where(0, x);
}

Tensor softshrink(const Tensor& x, double lambda) {
  const Called called;
  if (lambda < 0) user_error(fmt::format("softshrink: lambda is {}, below 0", lambda));
  return (x > lambda).where(x - lambda, (x < -lambda).where(x + lambda, x * 0));
}

Tensor tanhshrink(const Tensor& x) { return Called(), x - x.tanh(); }

Tensor threshold(const Tensor& x, double least, double value) {
  return Called(), (x <= least).where(value, x);
}

Tensor prelu(const Tensor& x, const Tensor& weight) {
  const Called called;
  if (weight.ndim() > 1 || (weight.numel() != 1 && (x.ndim() < 2 || x.size(1) != weight.numel())))
    user_error(
        fmt::format("prelu: a weight of shape {} for shape {}: it is one slope, or one for "
                    "each channel",
                    shape_text(weight.uop()), shape_text(x.uop())));
  std::vector<Dim> channels(x.uop()->dims().size(), Dim(1));
  if (weight.numel() != 1) channels[1] = Dim(-1);
  return (x > 0).where(x, x * weight.reshape(Shape(channels)));
}

Tensor rrelu(const Tensor& x, double lower, double upper) {
  const Called called;
  if (lower > upper)
    user_error(fmt::format("rrelu: slopes from {} to {}: want the lower one first", lower, upper));
  if (!Training::is_on()) return (x > 0).where(x, x * ((lower + upper) / 2));
  const Tensor slope = Tensor::uniform(x.dims(), lower, upper, {.device = x.device()});
  return (x > 0).where(x, x * slope.cast(x.dtype()));
}

Tensor glu(const Tensor& x, std::int64_t axis) {
  const Called called;
  if (x.ndim() == 0 || x.size(axis) % 2 != 0)
    user_error(
        fmt::format("glu: axis {} of shape {} has no two halves", axis, shape_text(x.uop())));
  const std::int64_t half = x.size(axis) / 2;
  return x.slice(axis, {.stop = half}) * x.slice(axis, {.start = half}).sigmoid();
}

Tensor log_sigmoid(const Tensor& x) { return Called(), x.logsigmoid(); }

// -log(-log(u)) is distributed as what makes the largest of logits + noise a choice by softmax.
Tensor gumbel_softmax(const Tensor& logits, double temperature, bool hard, std::int64_t axis) {
  const Called called;
  if (temperature <= 0)
    user_error(fmt::format("gumbel_softmax: the temperature is {}, not above 0", temperature));
  constexpr double least = 1e-30;
  const Tensor u = Tensor::rand(logits.dims(), {.device = logits.device()});
  const Tensor noise = -(-u.maximum(least).log()).maximum(least).log();
  const Tensor soft = ((logits + noise.cast(logits.dtype())) / temperature).softmax(axis);
  if (!hard) return soft;
  const Tensor place = Tensor::arange(soft.size(axis), {.device = soft.device()});
  std::vector<Dim> sizes(soft.uop()->dims().size(), Dim(1));
  sizes[static_cast<std::size_t>(axis_of("gumbel_softmax", axis, soft.ndim()))] = Dim(-1);
  const Tensor chosen = soft.argmax(axis, true) == place.reshape(Shape(sizes));
  return chosen.cast(soft.dtype()) + (soft - soft.detach());
}

}  // namespace functional
}  // namespace weft
