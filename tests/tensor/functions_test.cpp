// What golden cases do not say of functions, dtypes and scans: limits, promotion, long axes, symbolic sizes.

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <weft/dev/tensor/quotient.h>

#include "tensor_test.h"

namespace weft {
namespace {

TEST(TensorDTypes, Limits) {
  using Float = std::numeric_limits<float>;
  EXPECT_EQ(finfo(dtypes::f32).max, static_cast<double>(Float::max()));
  EXPECT_EQ(finfo(dtypes::f32).min, -static_cast<double>(Float::max()));
  EXPECT_EQ(finfo(dtypes::f32).eps, static_cast<double>(Float::epsilon()));
  EXPECT_EQ(finfo(dtypes::f32).tiny, static_cast<double>(Float::min()));
  EXPECT_EQ(finfo(dtypes::f32).smallest_subnormal, static_cast<double>(Float::denorm_min()));
  EXPECT_EQ(finfo(dtypes::f64).max, std::numeric_limits<double>::max());
  EXPECT_EQ(finfo(dtypes::f16).max, 65504);
  EXPECT_EQ(finfo(dtypes::f16).tiny, 0x1p-14);
  EXPECT_EQ(finfo(dtypes::bf16).eps, 0x1p-7);
  EXPECT_EQ(finfo(dtypes::f8e4m3).max, 448);
  EXPECT_EQ(finfo(dtypes::f8e5m2).max, 57344);
  EXPECT_EQ(finfo(dtypes::f8e5m2).bits, 8);
  EXPECT_EQ(iinfo(dtypes::i8).min, -128);
  EXPECT_EQ(iinfo(dtypes::i64).max, 0x7fffffffffffffffU);
  EXPECT_EQ(iinfo(dtypes::i64).min, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(iinfo(dtypes::u64).max, ~0ULL);
  EXPECT_EQ(iinfo(dtypes::u16).min, 0);
  EXPECT_EQ(iinfo(dtypes::bool_).max, 1U);
}

TEST(TensorDTypes, OfTensors) {
  const Tensor half = Tensor::ones({2}, {.dtype = dtypes::f16}), whole({1, 2});
  EXPECT_EQ(half.element_size(), 2U);
  EXPECT_EQ(whole.to_long().element_size(), 8U);
  EXPECT_TRUE(half.is_floating_point());
  EXPECT_FALSE(whole.is_floating_point());
  EXPECT_EQ(Tensor::result_type(half, whole), dtypes::f16);
  EXPECT_EQ(Tensor::result_type(whole, 0.5), dtypes::f32);
  EXPECT_EQ(Tensor::result_type(whole.to_bool(), 2), dtypes::i32);
}

std::vector<double> waves(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(std::sin(0.37 * static_cast<double>(i)) + 0.01);
  return values;
}

// Longer than one kernel takes at once, and than the blocks of one level.
TEST(TensorScans, OfLongAxes) {
  for (const std::size_t count : {512U, 513U, 5000U, 100003U}) {
    const std::vector<double> values = waves(count);
    std::vector<double> sums(count), largest(count);
    std::partial_sum(values.begin(), values.end(), sums.begin());
    std::partial_sum(values.begin(), values.end(), largest.begin(),
                     [](double a, double b) { return std::max(a, b); });
    const Tensor x(values);
    const Sizes64 shape{static_cast<std::int64_t>(count)};
    EXPECT_TRUE(near(x.cumsum(), sums, shape, 1e-10)) << count;
    const auto [values_found, places] = x.cummax();
    EXPECT_TRUE(holds<double>(values_found, largest, shape)) << count;
    EXPECT_TRUE(holds<double>(x.take(places), largest, shape)) << count;
  }
}

// Every element counts for itself and all behind it.
TEST(TensorScans, GradientsOfLongAxes) {
  const std::int64_t count = 3000;
  const Tensor x(waves(count)), weights = Tensor::arange(count, {.dtype = dtypes::f64});
  const Tensor found = x.cumsum().gradient({x}, weights)[0];
  std::vector<double> expected;
  for (std::int64_t i = 0; i < count; ++i)
    expected.push_back(static_cast<double>((i + count - 1) * (count - i)) / 2);
  EXPECT_TRUE(near(found, expected, {count}, 1e-10));
}

TEST(TensorScans, BesideASymbolicSize) {
  const UOp n = Variable("rows", 1, 4);
  const Tensor x = Tensor::ones({Dim(n), 3});
  const Tensor found[] = {x.cumsum(1), x.tanh(), x.hypot(2), x.cummax(1).second,
                          x.norm(2, 1, true)};
  for (const Tensor& tensor : found) EXPECT_TRUE(tensor.dims()[0].uop().is(n));
}

// By 1 in the last place, at every step between two signs.
TEST(TensorFunctions, NeighboursInOrder) {
  Tensor x = Tensor({-1e-45F}, {.dtype = dtypes::f32});
  for (const float expected : {-0.0F, 1e-45F, 3e-45F}) {
    x = x.nextafter(1.0);
    EXPECT_EQ(x.item<float>(), expected);
  }
}

TEST(TensorFunctions, SignOfZeroHasNoGradient) {
  const Tensor x({-2.0, 0.0, 3.0});
  EXPECT_TRUE(holds<float>(x.sign().sum().gradient({x})[0], {0, 0, 0}, {3}));
}

// Bit by bit as a division, where no quotient is a subnormal number.
template <class Number>
void divides_exactly(DType dtype, const std::vector<double>& divisors) {
  constexpr Number inf = std::numeric_limits<Number>::infinity(),
                   most = std::numeric_limits<Number>::max();
  std::mt19937 generator(3);
  std::vector<Number> numbers{0, -Number(0),    1,   -1,           most, -most, inf, -inf, most / 2,
                              3, Number(1e-20), 255, Number(1e30), 7};
  for (int i = 0; i < 4000; ++i)
    numbers.push_back(std::ldexp(static_cast<Number>(generator()), int(generator() % 60) - 60));
  const Tensor x = Tensor(numbers).cast(dtype);
  for (const double divisor : divisors) {
    const auto found = quotient(x, divisor).template to_vector<Number>(),
               expected = (x / divisor).template to_vector<Number>();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (expected[i] != 0 && std::abs(expected[i]) < Number(0x1p-100)) continue;
      if (std::isnan(found[i]) && std::isnan(expected[i])) continue;
      EXPECT_EQ(found[i], expected[i]) << numbers[i] << " / " << divisor;
      EXPECT_EQ(std::signbit(found[i]), std::signbit(expected[i]))
          << numbers[i] << " / " << divisor;
    }
  }
  const Tensor nan(std::vector<Number>{std::numeric_limits<Number>::quiet_NaN()});
  EXPECT_TRUE(std::isnan(quotient(nan, 3).template to_vector<Number>()[0]));
}

TEST(Quotients, AreThoseOfADivision) {
  const std::vector<double> divisors{
      1.4142135623730951, 3, -7, 255, 0.1, 0.5, 1e-12, -1e20, 1e-40, 1e40};
  divides_exactly<float>(dtypes::f32, divisors);
  divides_exactly<double>(dtypes::f64, divisors);
  const Tensor half(std::vector<float>{1, -2, 100, 0.3F});
  EXPECT_EQ(quotient(half.cast(dtypes::f16), 3).cast(dtypes::f32).to_vector<float>(),
            (half.cast(dtypes::f16) / 3).cast(dtypes::f32).to_vector<float>());
}

TEST(Functions, XlogyIsComputedInTheDtypeOfBoth) {
  const Tensor wide({2.0}, {.dtype = dtypes::f64}), half({0.1f}, {.dtype = dtypes::f16});
  EXPECT_DOUBLE_EQ(wide.xlogy(0.2).item<double>(), 2 * std::log(0.2));
  EXPECT_EQ(half.xlogy(2.0).dtype(), dtypes::f16);
  EXPECT_EQ(Tensor({1.f}).xlogy(half).dtype(), dtypes::f32);
}

// As NumPy does, NaN is behind all numbers.
TEST(Functions, NaNIsTheLastOfWhatIsSearched) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor edges({1.f, nan}), values({2.f, nan});
  EXPECT_TRUE(holds<int>(edges.searchsorted(values), {1, 1}, {2}));
  EXPECT_TRUE(holds<int>(edges.searchsorted(values, true), {1, 2}, {2}));
}

// Halves end at 256 where ones are added.
TEST(Functions, ManyAreCountedInFewBits) {
  const Tensor zeros = Tensor::zeros({3000}, {.dtype = dtypes::bf16});
  EXPECT_EQ(zeros.histc(1, -1, 1).item<float>(), 3008);  // the nearest of bf16
}

// Two units in the last place, as of values in memory: the exponent is not rounded before.
TEST(Functions, ExponentialsOfConstantsAreAsPrecise) {
  const auto distance = [](const Tensor& tensor, double exact) {
    return std::abs(tensor.item<float>() - exact) / std::abs(exact) * 0x1p23;
  };
  for (const float x : {25.F, -40.7F, 60.3F, 77.7F, -85.1F, 88.F}) {
    const Tensor number = Tensor::full({1}, x);
    EXPECT_LT(distance(number.exp(), std::exp(static_cast<double>(x))), 2) << x;
    EXPECT_LT(distance(number.expm1(), std::expm1(static_cast<double>(x))), 2) << x;
    EXPECT_LT(distance((-number).exp(), std::exp(-static_cast<double>(x))), 2) << x;
  }
}

}  // namespace
}  // namespace weft
