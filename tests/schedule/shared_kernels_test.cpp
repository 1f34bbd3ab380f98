// Kernels that differ in their numbers alone are one kernel.

#include <cmath>
#include <functional>
#include <set>

#include <gtest/gtest.h>
#include <weft/jit.h>
#include <weft/weft.h>

#include "../support/planned.h"

namespace weft {
namespace {

using OfNumber = std::function<Tensor(const Tensor&, float)>;

std::vector<Tensor> with_numbers(const OfNumber& f, const Tensor& x, int count) {
  std::vector<Tensor> results;
  for (int i = 0; i < count; ++i) results.push_back(f(x, static_cast<float>(i) + 0.3F));
  return results;
}

// Steps and different kernels of a chain of them, each in memory of its own.
std::pair<std::size_t, std::size_t> kernels(const OfNumber& f, int count) {
  Tensor y = Tensor::arange(8).to_float().realize();
  for (int i = 0; i < count; ++i) y = f(y, static_cast<float>(i) + 0.3F).contiguous();
  const Planned planned(y, {});
  std::set<const Node*> different;
  for (const Step& step : planned.plan().steps) different.insert(step.kernel.node());
  return {planned.plan().steps.size(), different.size()};
}

void expect_values(const OfNumber& f, const std::function<float(float, float)>& value) {
  for (const char* device : {"CPU", "INTERP"}) {
    const Tensor x = Tensor::arange(8, {.device = device}).to_float().realize();
    std::vector<Tensor> all = with_numbers(f, x, 20);
    Tensor::realize(all);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < 8; ++k)
        EXPECT_EQ(all[i].to_vector<float>()[k],
                  value(static_cast<float>(k), static_cast<float>(i) + 0.3F));
  }
}

const OfNumber product = [](const Tensor& x, float number) { return x * number; };
const OfNumber twice = [](const Tensor& x, float number) { return (x * number).maximum(number); };
const OfNumber two = [](const Tensor& x, float number) { return x * number + number * number; };

TEST(SharedKernels, DifferInNumbers) {
  using Counts = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(kernels(product, 20), Counts(20, 3)) << "the first, the last and the others in place";
  EXPECT_EQ(kernels(twice, 20), Counts(20, 3));
  EXPECT_EQ(kernels(two, 20), Counts(20, 3));
  EXPECT_EQ(kernels(product, 7), Counts(7, 7)) << "of so few, each is compiled with its number";
}

TEST(SharedKernels, HaveTheirNumbers) {
  expect_values(product, [](float x, float number) { return x * number; });
  expect_values(twice, [](float x, float number) { return std::max(x * number, number); });
  expect_values(two, [](float x, float number) { return x * number + number * number; });
}

TEST(SharedKernels, HaveTheirNumbersWhenReplayed) {
  auto f = jit([](const Tensor& x) { return with_numbers(product, x, 12); });
  for (int call = 0; call < 4; ++call) {
    const std::vector<Tensor> all = f((Tensor::arange(8) + call).to_float().realize());
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_EQ(all[i].to_vector<float>()[1],
                static_cast<float>(1 + call) * (static_cast<float>(i) + 0.3F));
  }
}

// Numbers that change from run to run are variables of the plan, which look alike.
TEST(SharedKernels, KeepTheVariablesOfThePlanApart) {
  const Tensor x = Tensor::arange(8).to_float().realize();
  for (int run = 0; run < 3; ++run) {
    std::vector<Tensor> all{x};
    for (int i = 0; i < 12; ++i) {
      const float factor = static_cast<float>(3 + 7 * run + i) + 0.25F;
      all.push_back((all.back().sin() * factor + (static_cast<float>(i) + 0.3F)).contiguous());
    }
    Tensor::realize(all);
    for (int i = 0; i < 12; ++i) {
      const auto before = all[static_cast<std::size_t>(i)].to_vector<float>();
      const auto after = all[static_cast<std::size_t>(i) + 1].to_vector<float>();
      const float factor = static_cast<float>(3 + 7 * run + i) + 0.25F;
      EXPECT_NEAR(after[1], std::sin(before[1]) * factor + static_cast<float>(i) + 0.3F, 1e-3)
          << run << " " << i;
    }
  }
}

TEST(SharedKernels, HaveNumbersOfEveryDtype) {
  for (const DType dtype : {dtypes::f64, dtypes::f16, dtypes::i32}) {
    const Tensor x = Tensor({1.0, 2.0}).cast(dtype).realize();
    std::vector<Tensor> all;
    for (int i = 0; i < 12; ++i) all.push_back((x * (-3 - 4 * i)).contiguous().sum());
    Tensor::realize(all);
    for (int i = 0; i < 12; ++i)
      EXPECT_EQ(all[static_cast<std::size_t>(i)].cast(dtypes::f64).item<double>(),
                3 * (-3 - 4 * i));
  }
}

TEST(SharedKernels, KeepPlacesInMemory) {
  const Context checked{{"VALIDATE", 2}};
  const Tensor x = Tensor::arange(64).to_float().realize();
  std::vector<Tensor> all;
  for (int i = 0; i < 12; ++i) all.push_back(x[{Tensor::arange(3 + i * 3, 7 + i * 3)}].sum());
  Tensor::realize(all);
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(all[static_cast<std::size_t>(i)].item<float>(),
              static_cast<float>(4 * (3 + 3 * i) + 6));
}

}  // namespace
}  // namespace weft
