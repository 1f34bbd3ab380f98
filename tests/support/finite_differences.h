// Gradients against central differences of what the eager evaluator computes.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <weft/dev/grad/gradient.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/spec.h>

#include "eager.h"

namespace weft {

inline std::vector<double> doubles(const Array& array, DType dtype = dtypes::f64) {
  std::vector<double> values;
  for (Bits bits : array.values) values.push_back(double_from_bits(bits, dtype));
  return values;
}

inline Array array_of(const UOp& like, const std::vector<double>& values) {
  Array array;
  for (const Node* size : like->dims()) array.sizes.push_back(size->lo());
  for (double value : values) array.values.push_back(bits_from_double(value, like->dtype()));
  return array;
}

// Programs on PARAMs of f64, at one point.
class FiniteDifferences {
 public:
  explicit FiniteDifferences(std::uint64_t seed) : random_(seed) {}

  void set(const UOp& input, std::vector<double> values) {
    inputs_.push_back(input);
    values_.push_back(std::move(values));
  }
  // Anywhere between the bounds.
  void set_random(const UOp& input, double lo, double hi) {
    set(input, draw(element_count(input), lo, hi));
  }
  // What has no derivative, such as the indices of a gather.
  void set_constant(const UOp& input, const Array& array) { constants_.emplace_back(input, array); }

  // Compares the gradient of a random weighted sum of the value's elements in some elements of each
  // input; returns the gradients. A kink or jump is where the slopes on both sides or nearby differ.
  std::vector<UOp> check(const UOp& value, std::size_t most_elements = 1000) {
    const UOp weights = make(Op::Param, sizes_of(value), value->dtype(), next_slot());
    set_constant(weights, array_of(weights, draw(element_count(weights), -1, 1)));
    const std::vector<UOp> gradients = gradient(value, inputs_, weights);
    verify(nodes_of(gradients), Level::Tensor, "gradient");
    Eager eager = at_point();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      EXPECT_EQ(gradients[i]->dtype(), inputs_[i]->dtype());
      EXPECT_EQ(gradients[i]->shape(), inputs_[i]->shape());
      const std::vector<double> got = doubles(eager(gradients[i].node()));
      if (got.size() != values_[i].size()) {
        ADD_FAILURE() << got.size() << " elements instead of " << values_[i].size();
        continue;
      }
      std::vector<std::size_t> elements(got.size());
      std::iota(elements.begin(), elements.end(), 0);
      std::shuffle(elements.begin(), elements.end(), random_);
      if (elements.size() > most_elements) elements.resize(most_elements);
      for (std::size_t element : elements) compare(value, weights, i, element, got[element]);
    }
    return gradients;
  }

  bool is_finite(const UOp& value) const {
    Eager eager = at_point();
    return std::ranges::all_of(doubles(eager(value.node())),
                               [](double x) { return std::isfinite(x); });
  }

  int compared() const { return compared_; }
  int moving() const { return moving_; }  // of those, where the slope is not 0
  int skipped() const { return skipped_; }

 private:
  static constexpr double step = 1e-6, tolerance = 1e-4;

  static std::size_t element_count(const UOp& tensor) {
    std::size_t count = 1;
    for (const Node* size : tensor->dims()) count *= static_cast<std::size_t>(size->lo());
    return count;
  }
  std::vector<double> draw(std::size_t count, double lo, double hi) {
    std::uniform_real_distribution<double> distribution(lo, hi);
    std::vector<double> values(count);
    for (double& value : values) value = distribution(random_);
    return values;
  }
  static ParamArg next_slot() {
    static std::int32_t slot = 1000;
    return {slot++, Access::Read, 0};
  }

  Eager at_point() const {
    Eager eager;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      eager.set(inputs_[i], array_of(inputs_[i], values_[i]));
    for (const auto& [input, array] : constants_) eager.set(input, array);
    return eager;
  }

  double loss(const UOp& value, const UOp& weights) const {
    Eager eager = at_point();
    const std::vector<double> factors = doubles(eager(weights.node()));
    const std::vector<double> values = doubles(eager(value.node()));
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += factors[i] * values[i];
    return sum;
  }

  void compare(const UOp& value, const UOp& weights, std::size_t input, std::size_t element,
               double got) {
    const double middle = values_[input][element];
    const auto loss_at = [&](double distance) {
      values_[input][element] = middle + distance;
      const double sum = loss(value, weights);
      values_[input][element] = middle;
      return sum;
    };
    const auto slope_over = [&](double from, double to) {
      return (loss_at(to) - loss_at(from)) / (to - from);
    };
    const double slope = slope_over(-step, step), near = slope_over(-step / 8, step / 8);
    const double bend = slope_over(0, step) - slope_over(-step, 0);
    const double allowed = tolerance * (1 + std::abs(slope));
    const bool is_smooth = std::abs(bend) < allowed && std::abs(slope - near) < allowed;
    if (!is_smooth || std::abs(loss_at(0)) > 1e4) {
      ++skipped_;
      return;
    }
    ++compared_;
    moving_ += std::abs(slope) > tolerance;
    EXPECT_NEAR(got, slope, allowed) << "element " << element << " of input " << input;
  }

  std::mt19937_64 random_;
  std::vector<UOp> inputs_;
  std::vector<std::vector<double>> values_;
  std::vector<std::pair<UOp, Array>> constants_;
  int compared_ = 0, moving_ = 0, skipped_ = 0;
};

}  // namespace weft
