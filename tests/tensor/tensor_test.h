// What the tests of Tensor share: the device to run on (the setting DEV), values side by side.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <weft/weft.h>

#include "../support/errors.h"

namespace weft {

using Sizes64 = std::vector<std::int64_t>;

// Shape and exact values, as T.
template <class T>
::testing::AssertionResult holds(const Tensor& tensor, const std::vector<T>& expected,
                                 const Sizes64& shape) {
  if (tensor.shape() != shape)
    return ::testing::AssertionFailure()
           << fmt::format("the shape is {}, not {}", tensor.shape(), shape);
  const std::vector<T> found = tensor.to_vector<T>();
  if (found == expected) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << fmt::format("{} instead of {}", found, expected);
}

// The same within a tolerance, relative beyond 1; NaN equals NaN.
inline ::testing::AssertionResult near(const Tensor& tensor, const std::vector<double>& expected,
                                       const Sizes64& shape, double tolerance = 1e-5) {
  if (tensor.shape() != shape)
    return ::testing::AssertionFailure()
           << fmt::format("the shape is {}, not {}", tensor.shape(), shape);
  const std::vector<double> found = tensor.to_vector<double>();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool same = found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]));
    const double room = tolerance * std::max(1.0, std::abs(expected[i]));
    if (!same && !(std::abs(found[i] - expected[i]) <= room))
      return ::testing::AssertionFailure()
             << fmt::format("at {}: {} instead of {}", i, found[i], expected[i]);
  }
  return ::testing::AssertionSuccess();
}

// a, a+step ... : values to compute with.
inline std::vector<float> ramp(std::int64_t count, double start, double step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(start + step * static_cast<double>(i)));
  return values;
}

}  // namespace weft
