#include <weft/gradcheck.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <ostream>
#include <random>

#include <fmt/format.h>
#include <weft/error.h>

namespace weft {
namespace {

using Values = std::vector<double>;

bool can_move(const Tensor& input) { return !input.is_null() && input.dtype().is_float(); }

Tensor holding(const Values& values, const Tensor& like) {
  return Tensor(values, {.dtype = like.dtype(), .device = like.device()})
      .reshape(Shape(like.shape()));
}

// From 1/2 to 3/2, either sign: no output is without weight, and no two outputs have the same, so that errors of
// several do not cancel.
Values random_weights(std::mt19937_64& random, std::size_t count) {
  Values weights(count, 1);
  if (count == 1) return weights;
  for (double& weight : weights) {
    const std::uint64_t bits = random();
    weight = (0.5 + std::ldexp(static_cast<double>(bits >> 11), -53)) * ((bits & 1) == 0 ? 1 : -1);
  }
  return weights;
}

// In ascending order.
std::vector<std::int64_t> some_places(std::mt19937_64& random, std::int64_t count,
                                      std::int64_t most) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count)), taken;
  std::iota(all.begin(), all.end(), 0);
  std::ranges::sample(all, std::back_inserter(taken), most, random);
  return taken;
}

// A function at its inputs and near them.
class Neighbourhood {
 public:
  Neighbourhood(const Tensor::Forward& function, const std::vector<Tensor>& inputs,
                std::mt19937_64& random)
      : function_(function), inputs_(inputs) {
    for (Tensor& input : inputs_)
      if (can_move(input)) input = input.detach().clone().set_requires_grad();
    const Tensor output = function_(inputs_);
    weights_ = random_weights(random, static_cast<std::size_t>(output.numel()));
    gradients_ = gradients_of(output);
  }

  const Values& gradient(std::size_t input) const { return gradients_[input]; }

  // Of the weighted output along one element.
  double difference(std::size_t input, std::int64_t element, double eps) {
    const auto place = static_cast<std::size_t>(element);
    const Tensor here = inputs_[input];
    const auto values_at = [&](double offset) {
      Values moved = here.to_vector<double>();
      moved[place] += offset;
      inputs_[input] = holding(moved, here);
      const double reached = inputs_[input].to_vector<double>()[place];  // as the dtype has it
      return std::pair(reached, function_(inputs_).to_vector<double>());
    };
    const NoGrad constant;
    const auto [high, ahead] = values_at(eps);
    const auto [low, behind] = values_at(-eps);
    inputs_[input] = here;
    double change = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i)
      change += weights_[i] * (ahead[i] - behind[i]);
    return change / (high - low);
  }

 private:
  std::vector<Values> gradients_of(const Tensor& output) const {
    std::vector<Tensor> targets;
    for (const Tensor& input : inputs_)
      if (can_move(input)) targets.push_back(input);
    const std::vector<Tensor> found = output.gradient(targets, holding(weights_, output), true);
    std::vector<Values> gradients;
    auto next = found.begin();
    for (const Tensor& input : inputs_)
      gradients.push_back(can_move(input) ? (next++)->to_vector<double>() : Values());
    return gradients;
  }

  const Tensor::Forward& function_;
  std::vector<Tensor> inputs_;
  Values weights_;
  std::vector<Values> gradients_;
};

void compare(Gradcheck& check, double& worst, std::size_t input, std::int64_t element,
             double gradient, double difference, const GradcheckOptions& options) {
  const double size = std::max(std::abs(gradient), std::abs(difference));
  double error = std::abs(gradient - difference);
  if (!std::isfinite(error)) error = std::numeric_limits<double>::infinity();
  const double relative = std::isfinite(error) ? error / (size + options.atol) : error;
  const double excess = std::isfinite(error) ? error - options.atol - options.rtol * size : error;
  check.max_absolute_error = std::max(check.max_absolute_error, error);
  if (error > 0) check.max_relative_error = std::max(check.max_relative_error, relative);
  check.is_right = check.is_right && excess <= 0;
  ++check.compared;
  if (excess <= worst) return;
  worst = excess;
  check.input = input;
  check.element = element;
  check.gradient = gradient;
  check.difference = difference;
}

}  // namespace

Gradcheck gradcheck(const Tensor::Forward& function, const std::vector<Tensor>& inputs,
                    const GradcheckOptions& options) {
  const auto is_tolerance = [](double value) { return value >= 0; };
  if (!(options.eps > 0) || !is_tolerance(options.atol) || !is_tolerance(options.rtol))
    user_error(
        fmt::format("gradcheck: eps is {}, atol {} and rtol {}: a step has to be above 0, "
                    "tolerances not below",
                    options.eps, options.atol, options.rtol));
  if (options.samples < 1)
    user_error(fmt::format("gradcheck: {} samples, and nothing to compare", options.samples));
  if (!std::ranges::any_of(inputs, can_move))
    user_error("gradcheck: no input holds floats: there is nothing to take a step in");
  std::mt19937_64 random(options.seed);
  Neighbourhood near(function, inputs, random);
  Gradcheck check;
  double worst = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!can_move(inputs[i])) continue;
    for (const std::int64_t element : some_places(random, inputs[i].numel(), options.samples))
      compare(check, worst, i, element, near.gradient(i)[static_cast<std::size_t>(element)],
              near.difference(i, element, options.eps), options);
  }
  return check;
}

std::string Gradcheck::str() const {
  return fmt::format(
      "{}, {} element{} compared: absolute error {:.2e}, relative {:.2e}; at input {}, element {} "
      "the gradient is {:.8g}, the difference {:.8g}",
      is_right ? "right" : "wrong", compared, compared == 1 ? "" : "s", max_absolute_error,
      max_relative_error, input, element, gradient, difference);
}

std::ostream& operator<<(std::ostream& out, const Gradcheck& check) { return out << check.str(); }

}  // namespace weft
