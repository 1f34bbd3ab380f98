#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <weft/dev/ir/uop.h>

#include "calls.h"
#include "draft.h"
#include "gradients.h"

namespace nets {
namespace {

using weft::Tensor;

// What the program computes, without its requests and without anything that requires a gradient.
std::vector<Tensor> untracked(const Program& program) {
  std::vector<Tensor> values;
  for (const Step& step : program.steps)
    values.push_back(is_request(step) ? Tensor()
                     : is_input(step) ? input_tensor(step, 0)
                                      : call_weft(step, values));
  return values;
}

// Squares of each value, added up: written as no step of a program is, which would be the same value.
Tensor sum_of(const std::vector<Tensor>& values, const std::vector<std::size_t>& numbers) {
  Tensor sum;
  for (const std::size_t i : numbers) {
    const Tensor term = (values[i] * 0.37 * values[i]).sum();
    sum = sum.is_null() ? term : sum + term;
  }
  return sum;
}

std::vector<Tensor> chosen(const std::vector<Tensor>& values,
                           const std::vector<std::size_t>& numbers) {
  std::vector<Tensor> result;
  for (const std::size_t i : numbers) result.push_back(values[i]);
  return result;
}

// A copy and what it copies are one memory, once either is read; so are a view and its base, and what is written.
bool changes_identity(const Step& step) {
  return is_write(step) || step.kind == "contiguous" || step.kind == "clone";
}

bool agree(const Array& found, const Array& wanted) {
  double largest = 1;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (std::isfinite(wanted[i].real)) largest = std::max(largest, std::abs(wanted[i].real));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double a = found[i].real, b = wanted[i].real;
    if (std::isfinite(b) && !(std::abs(a - b) <= 1e-4 * largest)) return false;
  }
  return true;
}

}  // namespace

// Any values are read, in any order, before the gradient of others for one of them is asked for.
std::string reading_fault(const Program& program) {
  if (std::ranges::any_of(program.steps, changes_identity)) return {};
  Random random(program.seed + 78);
  std::vector<std::size_t> floats, no_views;
  const std::vector<Tensor> values = untracked(program), others = untracked(program);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_null() || !values[i].dtype().is_float()) continue;
    floats.push_back(i);
    if (weft::info(values[i].uop()->op()).cls != weft::OpClass::Movement) no_views.push_back(i);
  }
  if (floats.size() < 2 || no_views.empty()) return {};
  const std::vector<std::size_t> losses{random.of(floats), floats.back()};
  std::vector<std::size_t> targets{random.of(no_views)};
  if (const std::size_t other = random.of(no_views); other != targets[0] && random.one_in(2))
    targets.push_back(other);
  const auto gradients = [&](const std::vector<Tensor>& of) {
    const std::vector<Tensor> wanted = chosen(of, targets);
    std::vector<Array> found;
    for (const Tensor& each : sum_of(of, losses).gradient(wanted, {}, true))
      found.push_back(array_of(each));
    return found;
  };
  const std::vector<Array> wanted = gradients(values);
  std::string order;
  for (std::int64_t reads = random.between(1, 5); reads > 0; --reads) {
    const std::size_t i = random.one_in(3) ? targets[0] : random.of(floats);
    Tensor(others[i]).realize();
    order += fmt::format(" v{}", i);
  }
  const std::string what =
      fmt::format("the gradient of v{} for v{} where{} are read before",
                  fmt::join(losses, " and v"), fmt::join(targets, " and v"), order);
  try {
    const std::vector<Array> found = gradients(others);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!agree(found[i], wanted[i])) return what + " is another";
    return {};
  } catch (const std::exception& error) {
    return what + ": " + error.what();
  }
}

}  // namespace nets
