#include "gradients.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "calls.h"
#include "draft.h"

namespace nets {
namespace {

using weft::Tensor;

// A step along a random line: how far each input moves.
using Direction = std::vector<std::vector<double>>;

Direction direction_for(const Program& program) {
  Random random(program.seed + 77);
  Direction result;
  for (const Step& step : program.steps) {
    result.emplace_back();
    if (!is_input(step) || !step.is_argument) continue;
    for (std::size_t i = 0; i < step.values[0].size(); ++i)
      result.back().push_back(static_cast<double>(random.between(-1000, 1000)) / 1000);
  }
  return result;
}

// The sum of what is read, the k-th k times, with the inputs so far along the line.
double loss(Program program, const Direction& direction, double distance) {
  for (std::size_t i = 0; i < direction.size(); ++i)
    for (std::size_t k = 0; k < direction[i].size(); ++k)
      program.steps[i].values[0][k].real += distance * direction[i][k];
  double sum = 0;
  const std::vector<Evaluation> evaluation = evaluate(program);
  const std::vector<Array>& outputs = evaluation[0].reads.back();
  for (std::size_t k = 0; k < outputs.size(); ++k)
    for (std::size_t i = 0; i < outputs[k].size(); ++i)
      sum += outputs[k][i].is_unknown() ? NAN : static_cast<double>(k + 1) * outputs[k][i].real;
  return sum;
}

// Of few digits a small step loses too many.
bool is_narrow_argument(const Step& step) {
  return is_input(step) && step.is_argument && step.type != Type::F64;
}

// The change along the line, or nothing where it is no smooth one.
std::optional<double> slope(const Program& program, const Direction& direction) {
  if (std::ranges::any_of(program.steps, is_narrow_argument)) return {};
  constexpr double h = 1e-5;
  const double here = loss(program, direction, 0);
  const auto between = [&](double from, double to) {
    return (loss(program, direction, to) - loss(program, direction, from)) / (to - from);
  };
  const double central = between(-h, h), near = between(-h / 2, h / 2);
  const double bend = between(0, h) - between(-h, 0);
  const double half = between(0, h / 2) - between(-h / 2, 0);  // of a smooth one half as much
  const double size = 1 + std::abs(central);
  if (!std::isfinite(here) || !(size < 1e6) || std::abs(here) > 1e5) return {};
  if (!(std::abs(bend) < 1e-2 * size) || !(std::abs(central - near) < 1e-7 * size) ||
      !(std::abs(bend - 2 * half) < 1e-5 * size))
    return {};
  return central;
}

double along(const Tensor& gradient, const std::vector<double>& direction) {
  const Array found = array_of(gradient);
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) sum += found[i].real * direction[i];
  return sum;
}

}  // namespace

std::string gradient_fault(const Program& program) {
  const Direction direction = direction_for(program);
  const std::optional<double> wanted = slope(program, direction);
  if (!wanted) return {};
  const bool is_tracked = tracks(program);
  std::vector<Tensor> values, leaves;
  std::vector<std::size_t> numbers;
  Tensor sum;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.kind == "realize")
      Tensor::realize(tensors_of(step, values));  // which changes no gradient
    if (!is_request(step))
      values.push_back(is_input(step) ? input_tensor(step, 0) : call_weft(step, values));
    else
      values.emplace_back();
    if (is_input(step) && step.is_argument) {
      if (is_tracked) values.back().set_requires_grad();
      leaves.push_back(values.back());
      numbers.push_back(i);
    }
    for (std::size_t k = 0; step.kind == "read" && k < step.operands.size(); ++k) {
      const Tensor term = (values[step.operands[k]] * static_cast<std::int64_t>(k + 1)).sum();
      sum = sum.is_null() ? term : sum + term;
    }
  }
  if (leaves.empty()) return {};
  const std::vector<Tensor> gradients = sum.gradient(leaves, {}, true);
  Tensor::realize(gradients);
  double found = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    found += along(gradients[i], direction[numbers[i]]);
  if (std::abs(found - *wanted) <= 1e-5 * (1 + std::abs(*wanted))) return {};
  // As in PyTorch, what is not used gives 0 times what its slope is, which is infinite or NaN at some places.
  const auto chooses = [](const Step& step) {
    return std::ranges::any_of(std::array{"where", "fmax", "fmin", "pow", "xlogy"},
                               [&](const char* kind) { return step.kind.starts_with(kind); });
  };
  const auto is_infinite = [](const Tensor& value) {
    return !value.is_null() && value.dtype().is_float() && !value.isfinite().all().item<bool>();
  };
  if (std::isnan(found) &&
      (std::ranges::any_of(program.steps, chooses) || std::ranges::any_of(values, is_infinite)))
    return {};
  return fmt::format("the gradient along the line is {}, not {}", found, *wanted);
}

}  // namespace nets
