// Distributions whose draws are a function of a few uniform numbers.

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <weft/dev/ir/value.h>
#include <weft/error.h>
#include <weft/random.h>

#include "draws.h"

namespace weft {

Draw::Draw(std::string_view op, const Shape& shape, const Options& options)
    : op_(op), shape_(shape), options_(options) {
  if (options_.dtype.is_void()) options_.dtype = dtypes::f32;
  if (!options_.dtype.is_float() && !options_.dtype.is_int())
    user_error(fmt::format("{}: draws are no {}", op, options_.dtype.str()));
  within_ = promote(float_like(options_.dtype), dtypes::f32);
}

Tensor Draw::unit() const { return weft::unit(op_, shape_, within_, options_); }

Tensor Draw::open() const { return unit().maximum(std::ldexp(1.0, -25)); }

Tensor Draw::normal() const {
  return Tensor::randn(shape_, {.dtype = within_, .device = options_.device});
}

Draw Draw::layers(std::int64_t times) const {
  std::vector<Dim> dims = shape_.dims();
  dims.insert(dims.begin(), Dim(times));
  Draw draw = *this;
  draw.shape_ = Shape(dims);
  return draw;
}

Tensor Draw::parameter(std::string_view name, const Operand& value, Range range) const {
  if (value.uop()->is_const()) {
    const UOp known = converted(value.uop(), dtypes::f64);
    const double number = double_from_bits(known->arg<ConstArg>().bits, dtypes::f64);
    const bool allowed[] = {true, number > 0, number >= 0, number >= 0 && number <= 1};
    const char* expected[] = {"", "above 0", "at least 0", "from 0 to 1"};
    const auto which = static_cast<std::size_t>(range);
    if (!allowed[which])
      user_error(fmt::format("{}: {} {} is not {}", op_, name, number, expected[which]));
  }
  Sizes sizes;
  for (const Dim& dim : shape_.dims()) sizes.push_back(dim.uop());
  const UOp whole = weft::expand(
      weft::reshape(const_int(0, dtypes::i32), Sizes(sizes.size(), const_int(1))), sizes);
  if (value.uop()->dims().size() > sizes.size() ||
      !std::ranges::equal(broadcast_sizes(op_, {whole, value.uop()}), sizes, {}, &UOp::node,
                          &UOp::node))
    user_error(fmt::format("{}: {} of shape {} does not broadcast to {}", op_, name,
                           shape_text(value.uop()), sizes_text(sizes)));
  const Symbol device = value.device.empty() ? device_of(options_) : value.device;
  return Tensor::from({converted(value.uop(), within_), device, value.tracked});
}

Tensor Draw::done(const Tensor& value) const {
  return as_asked(value.cast(options_.dtype), options_);
}

namespace random {
namespace {

using enum Draw::Range;

// The logarithm of a number of which both signs are equally likely: of how far u is from its end.
Tensor log_tail(const Tensor& u) { return (u.minimum(1 - u) * 2).log(); }

Tensor polynomial(const Tensor& x, std::initializer_list<double> coefficients) {
  Tensor sum;
  for (const double* c = coefficients.end(); c-- != coefficients.begin();)
    sum = sum.is_null() ? x.full_like(*c) : sum * x + *c;
  return sum;
}

// The normal number that is not exceeded with probability p, within 1e-7 (Wichura, AS 241).
Tensor normal_quantile(const Tensor& p) {
  const Tensor q = p - 0.5, near = 0.180625 - q.square();
  const Tensor middle = q *
                        polynomial(near, {3.3871327179, 50.434271938, 159.29113202, 59.109374720}) /
                        polynomial(near, {1.0, 17.895169469, 78.757757664, 67.187563600});
  const Tensor r = (-p.minimum(1 - p).log()).sqrt();
  const Tensor outer =
      polynomial(r - 1.6, {1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103}) /
      polynomial(r - 1.6, {1.0, 0.73700164250, 0.12021132975});
  const Tensor far =
      polynomial(r - 5.0, {6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997}) /
      polynomial(r - 5.0, {1.0, 0.24197894225, 0.012258202635});
  const Tensor tail = (r <= 5).where(outer, far);
  return (q.abs() <= 0.425).where(middle, (q < 0).where(-tail, tail));
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

}  // namespace

Tensor exponential(const Shape& shape, const Operand& rate, const Options& options) {
  const Called called;
  const Draw draw("exponential", shape, options);
  return draw.done(-(1 - draw.unit()).log() / draw.parameter("rate", rate, Positive));
}

Tensor laplace(const Shape& shape, const Operand& mean, const Operand& scale,
               const Options& options) {
  const Called called;
  const Draw draw("laplace", shape, options);
  const Tensor u = draw.open(), tail = log_tail(u);
  return draw.done((u < 0.5).where(tail, -tail) * draw.parameter("scale", scale, Positive) +
                   draw.parameter("mean", mean, Any));
}

Tensor logistic(const Shape& shape, const Operand& mean, const Operand& scale,
                const Options& options) {
  const Called called;
  const Draw draw("logistic", shape, options);
  const Tensor u = draw.open();
  return draw.done((u.log() - (1 - u).log()) * draw.parameter("scale", scale, Positive) +
                   draw.parameter("mean", mean, Any));
}

Tensor gumbel(const Shape& shape, const Operand& location, const Operand& scale,
              const Options& options) {
  const Called called;
  const Draw draw("gumbel", shape, options);
  return draw.done(draw.parameter("location", location, Any) -
                   (-draw.open().log()).log() * draw.parameter("scale", scale, Positive));
}

// The tangent, as a quotient that is exact where it is large.
Tensor cauchy(const Shape& shape, const Operand& median, const Operand& scale,
              const Options& options) {
  const Called called;
  const Draw draw("cauchy", shape, options);
  const Tensor u = draw.open(), angle = u.minimum(1 - u) * std::numbers::pi;
  const Tensor size = angle.cos() / angle.sin();
  return draw.done((u < 0.5).where(-size, size) * draw.parameter("scale", scale, Positive) +
                   draw.parameter("median", median, Any));
}

Tensor weibull(const Shape& shape, const Operand& concentration, const Operand& scale,
               const Options& options) {
  const Called called;
  const Draw draw("weibull", shape, options);
  const Tensor power = draw.parameter("concentration", concentration, Positive).reciprocal();
  return draw.done((-(1 - draw.unit()).log()).pow(power) *
                   draw.parameter("scale", scale, Positive));
}

Tensor pareto(const Shape& shape, const Operand& concentration, const Operand& scale,
              const Options& options) {
  const Called called;
  const Draw draw("pareto", shape, options);
  const Tensor fall = draw.parameter("concentration", concentration, Positive);
  return draw.done((-(1 - draw.unit()).log() / fall).exp() *
                   draw.parameter("scale", scale, Positive));
}

Tensor log_normal(const Shape& shape, const Operand& mean, const Operand& std,
                  const Options& options) {
  const Called called;
  const Draw draw("log_normal", shape, options);
  return draw.done(
      (draw.normal() * draw.parameter("std", std, Positive) + draw.parameter("mean", mean, Any))
          .exp());
}

// Where most of the interval is above the mean it is turned around: probabilities near 0 have more
// digits than those near 1.
Tensor truncated_normal(const Shape& shape, const TruncatedNormal& parameters,
                        const Options& options) {
  const Called called;
  const auto [mean, std, low, high] = parameters;
  if (!(std > 0 && low < high))
    user_error(fmt::format("truncated_normal: deviation {} from {} to {}", std, low, high));
  const Draw draw("truncated_normal", shape, options);
  double from = (low - mean) / std, to = (high - mean) / std;
  const double turn = from + to > 0 ? -1 : 1;
  if (turn < 0) {
    std::swap(from, to);
    from = -from;
    to = -to;
  }
  const double below = normal_cdf(from), width = normal_cdf(to) - below;
  const Tensor normal = normal_quantile(draw.open() * width + below);
  return draw.done((normal * (turn * std) + mean).clamp(low, high));
}

Tensor bernoulli(const Shape& shape, const Operand& p, const Options& options) {
  const Called called;
  const Draw draw("bernoulli", shape, options);
  return draw.done(draw.unit() < draw.parameter("p", p, Probability));
}

Tensor bernoulli(const Tensor& p) {
  return Called(), bernoulli(Shape(p.dims()), p, {.dtype = p.dtype(), .device = p.device()});
}

// log(1 - p) of the p that is not rounded away: p log(w) / (1 - w) of w = 1 - p as it is rounded.
Tensor geometric(const Shape& shape, const Operand& p, const Options& options) {
  const Called called;
  const Draw draw("geometric", shape, options);
  const Tensor chance = draw.parameter("p", p, Probability), rounded = 1 - chance;
  const Tensor log_rest = (rounded == 1).where(-chance, chance * rounded.log() / (1 - rounded));
  return draw.done(((1 - draw.unit()).log() / log_rest).floor() + 1);
}

}  // namespace random
}  // namespace weft
