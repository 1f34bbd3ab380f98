// Vectors times matrices of codes by products of bytes: what has such a form, and that it gives what the sums give in f64.

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>
#include <weft/jit.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../support/planned.h"

namespace weft {
namespace {

bool is_part(const UOp& kernel, const char* of) {
  return std::string(kernel->arg<KernelArg>().name.get()).find(of) != std::string::npos;
}

std::optional<double> digits_are_fast(const UOp& kernel, Symbol) {
  for (const char* part : {"_packed", "_powers", "_digits", "_sums", "_products"})
    if (is_part(kernel, part)) return 1e-3;
  return 1.0;
}

std::size_t forms_in(const Plan& plan) {
  std::size_t count = 0;
  for (const Step& step : plan.steps) count += is_part(step.kernel, "_products") ? 1 : 0;
  return count;
}

enum class Zero : std::uint8_t { None, Constant, OfBlock, Offset };

struct Case {
  std::int64_t rows = 32, blocks = 6, codes = 32, bits = 4;
  Zero zero = Zero::Constant;
  bool has_halves = false;  // fields of a byte lie half a block apart, and not beside each other
};

struct Matrix {
  Tensor bytes, scale, zero;
};

Tensor frozen(Tensor tensor) {
  tensor.realize().freeze();
  return tensor;
}

Matrix random_matrix(const Case& c) {
  const std::int64_t bytes = c.codes * c.bits / 8;
  return {frozen(Tensor::randint({c.rows, c.blocks, bytes}, 0, 256).cast(dtypes::u8)),
          frozen(Tensor::rand({c.rows, c.blocks, 1}) + 0.5),
          c.zero == Zero::OfBlock
              ? frozen(Tensor::randint({c.rows, c.blocks, 1}, 0, 1 << c.bits).cast(dtypes::u8))
              : frozen(Tensor::randn({c.rows, c.blocks, 1}))};
}

enum class Of : std::uint8_t { Numbers, Sizes };  // sizes: of what rounds before it cancels

// As numbers of the type.
Tensor decoded(const Matrix& matrix, const Case& c, DType dtype, Of of = Of::Numbers) {
  Tensor codes = matrix.bytes;
  if (c.bits < 8) {
    const std::int64_t fields = 8 / c.bits, mask = (1 << c.bits) - 1;
    const Tensor shifts = Tensor::arange(fields).cast(dtypes::u8) * c.bits;
    codes = c.has_halves ? codes.unsqueeze(2) >> shifts.reshape({fields, 1})
                         : codes.unsqueeze(3) >> shifts;
    codes = (codes & mask).reshape({c.rows, c.blocks, c.codes});
  }
  const Tensor number = codes.cast(dtype), scale = matrix.scale.cast(dtype);
  const auto sized = [&](const Tensor& value) { return of == Of::Sizes ? value.abs() : value; };
  if (c.zero == Zero::None) return (number * scale).reshape({c.rows, -1});
  if (c.zero == Zero::Offset)
    return (number * scale + sized(matrix.zero.cast(dtype))).reshape({c.rows, -1});
  const Tensor zero = c.zero == Zero::Constant ? Tensor::full({1}, 1 << (c.bits - 1)).cast(dtype)
                                               : matrix.zero.cast(dtype);
  return sized((number - zero) * scale).reshape({c.rows, -1});
}

// In the root mean square, in units of the last bit of the largest that is summed.
double error_of(const std::vector<float>& values, const std::vector<double>& expected,
                const std::vector<double>& sums) {
  double squares = 0, errors = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += sums[i] * sums[i];
    errors += (values[i] - expected[i]) * (values[i] - expected[i]);
  }
  return std::ldexp(std::sqrt(errors / squares), 24);
}

class ByDigits : public testing::TestWithParam<Case> {};

TEST_P(ByDigits, GiveTheSums) {
  const Case& c = GetParam();
  const Matrix matrix = random_matrix(c);
  const std::int64_t columns = c.blocks * c.codes;
  const Tensor x = (Tensor::randn({1, columns}) * Tensor::randn({1, columns}).exp()).realize();
  const Tensor added = Tensor::randn({c.rows}).realize();
  Planned planned(x.matmul(decoded(matrix, c, dtypes::f32).T()) + added, digits_are_fast);
  ASSERT_EQ(forms_in(planned.plan()), 1U);
  const auto exact = [](const Tensor& of) { return of.cast(dtypes::f64).to("INTERP"); };
  const Tensor whole = decoded(matrix, c, dtypes::f64).to("INTERP"),
               sizes = decoded(matrix, c, dtypes::f64, Of::Sizes).to("INTERP");
  const auto expected = (exact(x).matmul(whole.T()) + exact(added)).to_vector<double>(),
             sums = (exact(x).abs().matmul(sizes.T()) + exact(added).abs()).to_vector<double>();
  for (int run = 0; run < 2; ++run) EXPECT_LT(error_of(planned.values(), expected, sums), 2);
}

INSTANTIATE_TEST_SUITE_P(Matrices, ByDigits,
                         testing::Values(Case{}, Case{.has_halves = true}, Case{.zero = Zero::None},
                                         Case{.zero = Zero::OfBlock}, Case{.zero = Zero::Offset},
                                         Case{.rows = 48, .blocks = 3, .codes = 256, .bits = 8},
                                         Case{.codes = 16, .bits = 8, .zero = Zero::OfBlock},
                                         Case{.codes = 128, .bits = 2, .zero = Zero::Offset}));

double product_of(const Tensor& x, const Matrix& matrix, const Case& c) {
  Planned planned(x.matmul(decoded(matrix, c, dtypes::f32).T()), digits_are_fast);
  EXPECT_EQ(forms_in(planned.plan()), 1U);
  return planned.values()[3];
}

// Each block has a power of two of its own; one that is all zero has the least.
TEST(ByDigits, OfAllSizesOfNumbers) {
  const Case c;
  const Matrix matrix = random_matrix(c);
  const std::int64_t columns = c.blocks * c.codes;
  EXPECT_EQ(product_of(Tensor::zeros({1, columns}).realize(), matrix, c), 0);
  const auto weights = decoded(matrix, c, dtypes::f32).to_vector<float>();
  for (const double size : {1e-37, 1e-20, 1.0, 1e20, 1e33}) {
    std::vector<float> x(static_cast<std::size_t>(columns));
    double expected = 0, sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>((i % 3 == 0 ? -1.0 : 1.0) * size *
                                std::ldexp(1.0, -static_cast<int>(i % 32)));
      const double product = double{x[i]} * weights[3 * x.size() + i];
      expected += product;
      sum += std::abs(product);
    }
    EXPECT_NEAR(product_of(Tensor(x).reshape({1, columns}), matrix, c), expected, 1e-6 * sum)
        << size;
  }
}

TEST(ByDigits, OfWhatIsNoNumber) {
  const Case c;
  const Matrix matrix = random_matrix(c);
  const std::int64_t columns = c.blocks * c.codes;
  for (const float no_number :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> x(static_cast<std::size_t>(columns), 1);
    x[70] = no_number;
    EXPECT_FALSE(std::isfinite(product_of(Tensor(x).reshape({1, columns}), matrix, c)));
  }
}

TEST(ByDigits, OfNothingElse) {
  const Case c;
  const auto forms = [&](const Tensor& x, const Tensor& matrix) {
    return forms_in(Planned(x.matmul(matrix.T()), digits_are_fast).plan());
  };
  const Matrix matrix = random_matrix(c);
  const std::int64_t columns = c.blocks * c.codes;
  const Tensor x = Tensor::randn({1, columns}).realize(),
               rows = Tensor::randn({2, columns}).realize();
  const Tensor weights = decoded(matrix, c, dtypes::f32);
  EXPECT_EQ(forms(x, weights), 1U);
  EXPECT_EQ(forms(rows, weights), 0U) << "several rows";
  EXPECT_EQ(forms(x.cast(dtypes::f64).realize(), decoded(matrix, c, dtypes::f64)), 0U);
  EXPECT_EQ(forms(x, frozen(weights.clone())), 0U) << "no codes";
  const Matrix may_change{matrix.bytes.clone().realize(), matrix.scale, matrix.zero};
  EXPECT_EQ(forms(x, decoded(may_change, c, dtypes::f32)), 0U);
  EXPECT_EQ(forms(x, decoded(matrix, c, dtypes::f32).square()), 0U);
  const Case few{.rows = 24};
  EXPECT_EQ(forms(x, decoded(random_matrix(few), few, dtypes::f32)), 0U)
      << "rows that fill no lanes";
  const Case short_blocks{.blocks = 24, .codes = 8};
  EXPECT_EQ(forms(x, decoded(random_matrix(short_blocks), short_blocks, dtypes::f32)), 0U);
  const Context without{{"DIGITS", 0}};
  EXPECT_EQ(forms(x, weights), 0U);
}

// A scale that is looked up by a number of its block is read of two memories; a large matrix is announced row by row.
TEST(ByDigits, OfScalesThatAreLookedUp) {
  const Case c{.rows = 4096, .blocks = 16};
  const Matrix matrix = random_matrix(c);
  const Tensor table = frozen(Tensor::rand({256}) + 0.5),
               numbers = frozen(Tensor::randint({c.rows * c.blocks}, 0, 256).cast(dtypes::i32));
  const Context checked{{"VALIDATE", 1}};
  for (const bool is_table : {false, true}) {
    const Tensor scale =
        is_table ? table.index_select(0, numbers).reshape({c.rows, c.blocks, 1}) : matrix.scale;
    const Tensor weights = decoded({matrix.bytes, scale, matrix.zero}, c, dtypes::f32);
    const Tensor x = Tensor::randn({1, c.blocks * c.codes}).realize();
    Planned planned(x.matmul(weights.T()), digits_are_fast);
    EXPECT_EQ(forms_in(planned.plan()), 1U);
    const auto expected = x.matmul(weights.T().clone()).to_vector<float>(),
               values = planned.values();
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], expected[i], 2e-3);
  }
}

// By the model's choice where there is an instruction for it, in calls that are replayed.
TEST(ByDigits, InCapturedCalls) {
  const Case c{.rows = 512, .blocks = 32};
  const Matrix matrix = random_matrix(c);
  auto step = jit([&](const Tensor& x) { return x.matmul(decoded(matrix, c, dtypes::f32).T()); });
  for (int call = 0; call < 3; ++call) {
    const Tensor x = Tensor::randn({1, c.blocks * c.codes}).realize();
    const Tensor result = step(x).clone().realize();
    const Context without{{"DIGITS", 0}};
    EXPECT_TRUE(result.allclose(x.matmul(decoded(matrix, c, dtypes::f32).T().clone()), 1e-4, 1e-3));
  }
}

}  // namespace
}  // namespace weft
