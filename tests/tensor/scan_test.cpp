// Scans of all forms on all devices, beside plain loops.

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include <weft/settings.h>

#include "tensor_test.h"

namespace weft {
namespace {

using Step = std::function<double(double, double)>;

// Whole numbers around 0: sums of them are exact in any order.
std::vector<double> numbers(std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>((i * 7919 + i / 5) % 13 - 6));
  return values;
}

// Rows of a matrix, or columns; from the end on where `backwards`.
std::vector<double> scanned(std::vector<double> values, std::int64_t rows, std::int64_t columns,
                            int axis, bool backwards, const Step& step) {
  const auto at = [&](std::int64_t line, std::int64_t i) -> double& {
    const std::int64_t length = axis == 1 ? columns : rows, place = backwards ? length - 1 - i : i;
    return values[static_cast<std::size_t>(axis == 1 ? line * columns + place
                                                     : place * columns + line)];
  };
  for (std::int64_t line = 0; line < (axis == 1 ? rows : columns); ++line)
    for (std::int64_t i = 1; i < (axis == 1 ? columns : rows); ++i)
      at(line, i) = step(at(line, i - 1), at(line, i));
  return values;
}

class Scanned : public testing::TestWithParam<const char*> {
 protected:
  Scanned() : device_({{"DEV", GetParam()}}) {}
  Context device_;
};

TEST_P(Scanned, RowsAndColumns) {
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const std::int64_t shapes[][2] = {{1, 1}, {3, 2}, {2, 16}, {5, 33}, {37, 5}, {16, 64}, {70, 67}};
  for (const auto [rows, columns] : shapes)
    for (const int axis : {0, 1})
      for (const DType dtype : {dtypes::f32, dtypes::f64, dtypes::i32, dtypes::f16}) {
        const std::vector<double> values = numbers(rows * columns);
        const Sizes64 shape{rows, columns};
        const Tensor x = Tensor(values).cast(dtype).reshape({rows, columns});
        const auto expected = [&](bool backwards, const Step& step) {
          return scanned(values, rows, columns, axis, backwards, step);
        };
        const std::string what = fmt::format("{} of {} along {}", dtype.str(), shape, axis);
        EXPECT_TRUE(holds(x.cumsum(axis), expected(false, std::plus<>()), shape)) << what;
        EXPECT_TRUE(holds(x.cummax(axis).first, expected(false, larger), shape)) << what;
        EXPECT_TRUE(
            holds(x.flip(axis).cumsum(axis).flip(axis), expected(true, std::plus<>()), shape))
            << what;
      }
}

TEST_P(Scanned, ProductsAndGradients) {
  const Tensor x = Tensor(numbers(60)).reshape({4, 15}).sign() * 0.5 + 1.25;
  const std::vector<double> values = x.to_vector<double>();
  EXPECT_TRUE(near(x.cumprod(1), scanned(values, 4, 15, 1, false, std::multiplies<>()), {4, 15}));
  const Tensor weights = Tensor(numbers(60)).reshape({4, 15});
  EXPECT_TRUE(holds(x.cumsum(1).gradient({x}, weights)[0],
                    scanned(numbers(60), 4, 15, 1, true, std::plus<>()), {4, 15}));
}

// What is scanned, and what becomes of it, is part of the kernel.
TEST_P(Scanned, BesideOtherOps) {
  const std::vector<double> values = numbers(21 * 18);
  const Tensor x = Tensor(values).reshape({21, 18});
  for (const int axis : {0, 1}) {
    const std::vector<double> ahead = scanned(values, 21, 18, axis, false, std::plus<>()),
                              back = scanned(values, 21, 18, axis, true, std::plus<>());
    std::vector<double> both, twice = scanned(ahead, 21, 18, 1 - axis, false, std::plus<>());
    for (std::size_t i = 0; i < values.size(); ++i) both.push_back(2 * ahead[i] - back[i] + 1);
    const Tensor reversed = x.flip(axis).cumsum(axis).flip(axis);
    EXPECT_TRUE(holds((x * 2).cumsum(axis) - reversed + 1, both, {21, 18})) << axis;
    EXPECT_TRUE(holds(x.cumsum(axis).cumsum(1 - axis), twice, {21, 18})) << axis;
    EXPECT_TRUE(holds(x.cumsum(axis) - x.cumsum(axis).max(axis, true).cast(dtypes::f64) * 0, ahead,
                      {21, 18}))
        << axis;
  }
  EXPECT_TRUE(holds((x > 0).cumsum(1)[{Slice{}, -1}], (x > 0).sum(1).to_vector<double>(), {21}));
}

// What lies before a slice is combined before its loop.
TEST_P(Scanned, Slices) {
  const std::vector<double> values = numbers(11 * 40);
  const Tensor x = Tensor(values).reshape({11, 40}).realize();
  const Tensor ones = Tensor::eye(40, {.dtype = dtypes::f64}).realize();
  for (const int axis : {0, 1})
    for (const bool is_backwards : {false, true})
      for (const auto& [start, stop] : {std::pair{0, 4}, {3, 11}, {5, 8}, {10, 11}})
        for (const Tensor& given : {x, x.matmul(ones)}) {
          const Slice slice{.start = start, .stop = stop};
          Tensor found =
              is_backwards ? given.flip(axis).cumsum(axis).flip(axis) : given.cumsum(axis);
          found = axis == 0 ? found[{slice}] : found[{Slice{}, slice}];
          const Tensor all = Tensor(scanned(values, 11, 40, axis, is_backwards, std::plus<>()))
                                 .reshape({11, 40})
                                 .realize();
          const Tensor expected = axis == 0 ? all[{slice}] : all[{Slice{}, slice}];
          EXPECT_TRUE(holds(found * 2, (expected * 2).to_vector<double>(), expected.shape()))
              << axis << is_backwards << start;
        }
  const Tensor largest = x.cummax(1).first[{Slice{}, Slice{.start = 17, .stop = 39}}];
  const std::vector<double> expected =
      scanned(values, 11, 40, 1, false, [](double a, double b) { return std::max(a, b); });
  EXPECT_TRUE(holds(largest,
                    Tensor(expected)
                        .reshape({11, 40})[{Slice{}, Slice{.start = 17, .stop = 39}}]
                        .to_vector<double>(),
                    {11, 22}));
}

// The loop begins before what is scanned, or goes on behind it.
TEST_P(Scanned, PaddedOrBesideOtherParts) {
  using Form = Tensor (*)(const Tensor& sums, const Tensor& x);
  constexpr Form forms[] = {
      [](const Tensor& sums, const Tensor&) { return sums.pad({{1, 0}, {0, 0}}); },
      [](const Tensor& sums, const Tensor&) { return sums.pad({{0, 0}, {1, 0}}); },
      [](const Tensor& sums, const Tensor&) { return sums.pad({{2, 3}, {3, 1}}) * 2 + 1; },
      [](const Tensor& sums, const Tensor&) {
        return sums.pad({{1, 0}, {1, 0}}).shrink({{0, 7}, {0, 20}});
      },
      [](const Tensor& sums, const Tensor&) {
        return sums.shrink({{1, 6}, {4, 18}}).pad({{1, 1}, {2, 2}});
      },
      [](const Tensor& sums, const Tensor& x) { return Tensor::cat({sums, x}, 0); },
      [](const Tensor& sums, const Tensor& x) { return Tensor::cat({sums, x}, 1); },
      [](const Tensor& sums, const Tensor& x) { return Tensor::cat({x, sums, x}, 0); },
      [](const Tensor& sums, const Tensor& x) { return Tensor::cat({x, sums, x}, 1); }};
  const std::vector<double> values = numbers(21 * 20);
  const Tensor x = Tensor(values).reshape({21, 20}).realize();
  for (const int axis : {0, 1})
    for (const bool is_backwards : {false, true}) {
      const Tensor apart = Tensor(scanned(values, 21, 20, axis, is_backwards, std::plus<>()))
                               .reshape({21, 20})
                               .realize();
      const Tensor sums = is_backwards ? x.flip(axis).cumsum(axis).flip(axis) : x.cumsum(axis);
      for (const Form& form : forms) {
        const Tensor expected = form(apart, x);
        EXPECT_TRUE(holds(form(sums, x), expected.to_vector<double>(), expected.shape()))
            << axis << is_backwards << (&form - forms);
      }
    }
}

// A scan that is reshaped or transposed, where no loop may carry it.
TEST_P(Scanned, SeenOtherwise) {
  const std::vector<double> values = numbers(12 * 20),
                            sums = scanned(values, 12, 20, 1, false, std::plus<>());
  const Tensor found = Tensor(values).reshape({12, 20}).cumsum(1);
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return sums[static_cast<std::size_t>(row * 20 + column)] + 1;
  };
  std::vector<double> all, first, last, across;
  for (std::int64_t row = 0; row < 12; ++row)
    for (std::int64_t column = 0; column < 20; ++column) {
      all.push_back(at(row, column));
      if (column < 7) first.push_back(at(row, column));
      if (column >= 7) last.push_back(at(row, column));
      across.push_back(at((row * 20 + column) % 12, (row * 20 + column) / 12));
    }
  EXPECT_TRUE(holds(found.flatten() + 1, all, {240}));
  EXPECT_TRUE(holds(found[{Slice{}, Slice{.stop = 7}}] + 1, first, {12, 7}));
  EXPECT_TRUE(holds(found[{Slice{}, Slice{.start = 7}}] + 1, last, {12, 13}));
  EXPECT_TRUE(holds(found.T() + 1, across, {20, 12}));
}

// NaN stays from where it is on; no sum of parts lets infinities meet.
TEST_P(Scanned, SpecialValues) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Tensor x({1.0, infinity, 2.0, nan, 3.0});
  EXPECT_TRUE(near(x.cumsum(), {1, infinity, infinity, nan, nan}, {5}));
  EXPECT_TRUE(near(x.cummax().first, {1, infinity, infinity, nan, nan}, {5}));
}

// Then nothing but the condition tells the iterations apart.
TEST_P(Scanned, WhatDoesNotChangeAlongTheAxis) {
  const Tensor two = Tensor({2.0}).realize();
  for (std::int64_t n = 1; n < 20; ++n) {
    const std::vector<double> twos(static_cast<std::size_t>(n), 2);
    const auto expected = [&](const Step& step) { return scanned(twos, 1, n, 1, false, step); };
    const Tensor products = two.expand({n}).cumprod(0), constant = Tensor::full({n}, 2.0);
    EXPECT_TRUE(holds(products, expected(std::multiplies<>()), {n}));
    EXPECT_TRUE(holds(constant.cumprod(0), expected(std::multiplies<>()), {n}));
    EXPECT_TRUE(holds(two.expand({n}).cumsum(0), expected(std::plus<>()), {n}));
    EXPECT_TRUE(holds(two.expand({n}).cummax(0).first, twos, {n}));
  }
}

// What is reduced once more is staged.
TEST_P(Scanned, ThenReducedAlongAnotherAxis) {
  using Method = Tensor (*)(const Tensor&, std::int64_t);
  constexpr Method scans[] = {
      [](const Tensor& x, std::int64_t axis) { return x.cumsum(axis); },
      [](const Tensor& x, std::int64_t axis) { return x.cumprod(axis); },
      [](const Tensor& x, std::int64_t axis) { return x.cummax(axis).first; }};
  constexpr Method reductions[] = {
      [](const Tensor& x, std::int64_t axis) { return x.var(axis); },
      [](const Tensor& x, std::int64_t axis) { return x.std(axis); },
      [](const Tensor& x, std::int64_t axis) { return x.logsumexp(axis); },
      [](const Tensor& x, std::int64_t axis) { return x.argmax(axis); },
      [](const Tensor& x, std::int64_t axis) { return x.argmin(axis); }};
  EXPECT_TRUE(holds<double>(Tensor({{1.0, 2.0}, {3.0, 4.0}}).cumsum(0).var(1), {0.5, 2}, {2}));
  const Tensor x = Tensor(numbers(12 * 7)).reshape({12, 7}).realize();
  for (const std::int64_t along : {0, 1})
    for (const Method scan : scans) {
      const Tensor scanned_before = scan(x, along).realize();
      for (const Method reduce : reductions) {
        const Tensor apart = reduce(scanned_before, 1 - along);
        EXPECT_TRUE(
            near(reduce(scan(x, along), 1 - along), apart.to_vector<double>(), apart.shape()));
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, Scanned, testing::Values("INTERP", "CPU", "CLANG"));

// A load at the first index of a loop over nothing would read outside of its memory.
TEST(Scan, OfNoElements) {
  for (const char* device : {"CPU", "INTERP"}) {
    const Tensor x = Tensor({3.0}, {.device = device}).realize();
    const Tensor none = x.shrink({{1, 1}}).expand({2, 0});
    EXPECT_TRUE(holds<float>((none.cumprod(0) * 2).sum().gradient({x})[0], {0}, {1}));
    EXPECT_TRUE(holds<float>(none.cumsum(0).pad({{0, 0}, {1, 0}}), {0, 0}, {2, 1}));
    EXPECT_EQ(none.sort(0).values.shape(), (Sizes64{2, 0}));
    Tensor written = Tensor({0.0, 1.0}, {.device = device});
    written.set({Slice{.start = 2, .stop = 2}}, 5.0);
    EXPECT_TRUE(holds<float>(written, {0, 1}, {2}));
  }
}

}  // namespace
}  // namespace weft
