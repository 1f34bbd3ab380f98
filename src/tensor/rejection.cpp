// Distributions by rejection: as many proposals as make it all but certain that one is accepted, all at
// once, and of them the first.

#include <numbers>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/random.h>

#include "draws.h"

namespace weft {

Tensor first_accepted(const Tensor& values, const Tensor& accepted) {
  const std::int64_t count = values.size(0);
  std::vector<Dim> apart(static_cast<std::size_t>(values.ndim()), Dim(1));
  apart[0] = Dim(count);
  const Tensor left =
      Tensor::arange(count, 0, -1, {.device = values.device()}).reshape(Shape(apart));
  const Tensor rank = (accepted | (left == 1)).where(left, 0);
  return (rank == rank.max(0, true)).where(values, 0).sum(0, false, values.dtype());
}

namespace random {
namespace {

using enum Draw::Range;

// The logarithm of gamma draws: those of one concentration more, by Marsaglia and Tsang, of whose proposals
// one in 20 is rejected at most, times a uniform number to the power of 1 / concentration.
Tensor log_gamma(const Draw& draw, const Tensor& concentration) {
  constexpr std::int64_t tries = 6;
  const Draw proposals = draw.layers(tries);
  const Tensor d = concentration + 2.0 / 3, x = proposals.normal();
  const Tensor base = x / (d * 9).sqrt() + 1, is_inside = base > 0;
  const Tensor log_v = is_inside.where(base, 1).log() * 3;
  const Tensor limit = x.square() * 0.5 + d * (1 - log_v.exp() + log_v);
  const Tensor accepted = is_inside & (proposals.open().log() < limit);
  return first_accepted(log_v, accepted) + d.log() + draw.open().log() / concentration;
}

// By inversion, for rates up to 10: as many as there are steps of the distribution below u.
Tensor few(const Tensor& u, const Tensor& rate) {
  constexpr int most = 34;
  Tensor probability = (-rate).exp(), below = probability;
  Tensor count = (u >= below).cast(u.dtype());
  for (int n = 1; n < most; ++n) {
    probability = probability * rate / n;
    below = below + probability;
    count = count + (u >= below).cast(u.dtype());
  }
  return count;
}

// The logarithm of the probability of k, by Stirling's series. What is small is not the difference of what
// is large.
Tensor log_poisson(const Tensor& k, const Tensor& rate) {
  const Tensor some = k.maximum(1), off = (rate - some) / some;
  const Tensor series = some.reciprocal() * (1.0 / 12) - some.pow(-3.0) * (1.0 / 360);
  const Tensor value =
      some * ((off + 1).log() - off) - (some * (2 * std::numbers::pi)).log() * 0.5 - series;
  return (k < 1).where(-rate, value);
}

// By transformed rejection, for rates of 10 and above (Hormann, PTRS): a quarter is rejected at most.
Tensor many(const Draw& draw, const Tensor& rate) {
  constexpr std::int64_t tries = 13;
  const Draw proposals = draw.layers(tries);
  const Tensor b = rate.sqrt() * 2.53 + 0.931, a = b * 0.02483 - 0.059;
  const Tensor u = proposals.unit() - 0.5, v = proposals.open(), room = 0.5 - u.abs();
  const Tensor k = ((a * 2 / room + b) * u + rate + 0.43).floor();
  const Tensor at_once = (room >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2));
  const Tensor log_scale = (1.1239 + 1.1328 / (b - 3.4)).log() - (a / room.square() + b).log();
  const Tensor fits =
      (k >= 0) & ((room >= 0.013) | (v <= room)) & (v.log() + log_scale <= log_poisson(k, rate));
  return first_accepted((k >= 0).where(k, rate.floor()), at_once | fits);
}

}  // namespace

Tensor gamma(const Shape& shape, const Operand& concentration, const Operand& rate,
             const Options& options) {
  const Called called;
  const Draw draw("gamma", shape, options);
  const Tensor a = draw.parameter("concentration", concentration, Positive);
  return draw.done(log_gamma(draw, a).detach().exp() / draw.parameter("rate", rate, Positive));
}

Tensor chisquare(const Shape& shape, const Operand& degrees, const Options& options) {
  const Called called;
  const Draw draw("chisquare", shape, options);
  const Tensor half = draw.parameter("degrees", degrees, Positive) * 0.5;
  return draw.done(log_gamma(draw, half).detach().exp() * 2);
}

// The quotient of gamma draws, which may each be too small for a number.
Tensor beta(const Shape& shape, const Operand& a, const Operand& b, const Options& options) {
  const Called called;
  const Draw draw("beta", shape, options);
  const Tensor yes = log_gamma(draw, draw.parameter("a", a, Positive));
  return draw.done((yes - log_gamma(draw, draw.parameter("b", b, Positive))).sigmoid().detach());
}

Tensor student_t(const Shape& shape, const Operand& degrees, const Options& options) {
  const Called called;
  const Draw draw("student_t", shape, options);
  const Tensor half = draw.parameter("degrees", degrees, Positive) * 0.5;
  const Tensor log_ratio = half.log() - log_gamma(draw, half);
  return draw.done((draw.normal() * (log_ratio * 0.5).exp()).detach());
}

Tensor dirichlet(const Tensor& concentration) {
  const Called called;
  if (concentration.ndim() == 0 || !concentration.dtype().is_float())
    user_error(
        fmt::format("dirichlet: concentrations of {} and shape {} are not floats (..., count)",
                    concentration.dtype().str(), shape_text(concentration.uop())));
  const Draw draw("dirichlet", Shape(concentration.dims()),
                  {.dtype = concentration.dtype(), .device = concentration.device()});
  const Tensor a = draw.parameter("concentration", concentration, Positive);
  return draw.done(log_gamma(draw, a).softmax(-1).detach());
}

Tensor poisson(const Shape& shape, const Operand& rate, const Options& options) {
  const Called called;
  const Draw draw("poisson", shape, options);
  const Tensor r = draw.parameter("rate", rate, NotNegative);
  const Tensor is_small = r < 10;
  return draw.done(
      is_small.where(few(draw.unit(), r.minimum(10)), many(draw, r.maximum(10))).detach());
}

Tensor poisson(const Tensor& rate) {
  const Called called;
  return poisson(Shape(rate.dims()), rate, {.dtype = rate.dtype(), .device = rate.device()});
}

}  // namespace random
}  // namespace weft
