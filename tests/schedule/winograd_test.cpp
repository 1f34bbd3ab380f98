// Convolutions by fewer products: the matrices are exact, and every form gives what the sums of products give in f64.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <weft/dev/device/mma.h>
#include <weft/dev/ir/graph.h>
#include <weft/jit.h>
#include <weft/settings.h>
#include <weft/weft.h>

#include "../../src/schedule/algorithms/winograd/tile_transforms.h"
#include "../../src/schedule/algorithms/winograd/transforms.h"
#include "../../src/schedule/algorithms/winograd/winograd.h"
#include "../support/planned.h"

namespace weft {
namespace {

std::vector<double> product(const Matrix& matrix, const std::vector<double>& values) {
  std::vector<double> result;
  for (const std::vector<double>& row : matrix) {
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) sum += row[i] * values[i];
    result.push_back(sum);
  }
  return result;
}

struct Short {
  std::size_t outputs, taps;
};

class ToomCook : public testing::TestWithParam<Short> {};

TEST_P(ToomCook, IsTheConvolution) {
  const auto [outputs, taps] = GetParam();
  const std::size_t inputs = outputs + taps - 1;
  const WinogradTransform form = winograd_transform(outputs, taps, points_for(inputs));
  for (std::size_t at = 0; at < inputs; ++at)
    for (std::size_t tap = 0; tap < taps; ++tap) {
      std::vector<double> x(inputs), filter(taps);
      x[at] = 1;
      filter[tap] = 1;
      std::vector<double> products = product(form.input, x);
      const std::vector<double> factors = product(form.filter, filter);
      for (std::size_t i = 0; i < inputs; ++i) products[i] *= factors[i];
      const std::vector<double> sums = product(form.result, products);
      for (std::size_t i = 0; i < outputs; ++i)
        EXPECT_NEAR(sums[i], i + tap == at ? 1 : 0, 1e-12) << at << " " << tap << " " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ToomCook, testing::Values(Short{2, 3}, Short{4, 3}, Short{2, 5}));

TEST(ToomCook, RefusesOtherNumbersOfPoints) {
  EXPECT_THROW(winograd_transform(2, 3, {0, 1}), Error);
  EXPECT_THROW(points_for(5), Error);
}

bool has_products(const Node* param, std::int64_t products) {
  return std::ranges::any_of(param->dims(),
                             [&](const Node* size) { return size->lo() == products; });
}

bool has_sum(const UOp& kernel) {
  return std::ranges::any_of(toposort(kernel.node()),
                             [](const Node* node) { return node->op() == Op::Reduce; });
}

// Only what sums nothing and forms of that many products are fast, those in bands where that is asked for.
KernelSeconds for_products(std::int64_t products, bool in_bands = false) {
  return [=](const UOp& kernel, Symbol) -> std::optional<double> {
    const std::string name(kernel->arg<KernelArg>().name.get());
    const auto is_part = [&](const char* of) { return name.ends_with(of); };
    if (!is_part("_inputs") && !is_part("_products") && !is_part("_outputs") &&
        !is_part("_filters"))
      return has_sum(kernel) ? 1.0 : 1e-4;
    bool is_one = false, is_of_band = is_part("_filters") || is_part("_products");
    for (const Node* node : toposort(kernel.node())) {
      is_one = is_one || (node->op() == Op::Param && has_products(node, products));
      is_of_band = is_of_band || node->op() == Op::Variable;
    }
    return is_one && (is_of_band || !in_bands) ? 1e-4 : 2.0;
  };
}

std::size_t forms_in(const Plan& plan) {
  std::size_t count = 0;
  for (const Step& step : plan.steps)
    count += std::string(step.kernel->arg<KernelArg>().name.get()).ends_with("_products") ? 1 : 0;
  return count;
}

Shape shape(const std::vector<std::int64_t>& sizes) {
  return Shape(std::vector<Dim>(sizes.begin(), sizes.end()));
}

Tensor random(const Shape& shape) { return Tensor::randn(shape).realize(); }

struct Case {
  std::vector<std::int64_t> image, filter;
  std::int64_t groups = 1, padding = 0, products = 4;
  bool is_frozen = false, has_more = false;  // what follows it
};

Tensor convolution(const Tensor& x, const Tensor& w, const Tensor& b, const Case& c) {
  const Tensor y = x.conv2d(w, b, {.groups = c.groups, .padding = c.padding});
  return c.has_more ? (y + y.sin()).relu() : y;
}

// A case's tensors, and its plan beside the sums in f64.
struct Made {
  explicit Made(const Case& of)
      : c(of), x(random(shape(of.image))), w(random(shape(of.filter))), b(random({of.filter[0]})) {
    if (c.is_frozen) w.freeze();
  }

  // What can be off is a part of the sum of what is added.
  void expect_sums(Planned& planned) const {
    const auto exact = [&](const Tensor& of) { return of.cast(dtypes::f64).to("INTERP"); };
    const auto magnitude = [&](const Tensor& of) { return exact(of).abs().realize(); };
    const auto expected = convolution(exact(x), exact(w), exact(b), c).to_vector<double>();
    Case plain = c;
    plain.has_more = false;
    const auto sums =
        convolution(magnitude(x), magnitude(w), magnitude(b), plain).to_vector<double>();
    for (int run = 0; run < 2; ++run) {
      const std::vector<float> values = planned.values();
      ASSERT_EQ(values.size(), expected.size());
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], expected[i], 4e-6 * sums[i] + 1e-5) << "at " << i;
    }
  }

  Case c;
  Tensor x, w, b;
};

class FewerProducts : public testing::TestWithParam<Case> {};

TEST_P(FewerProducts, GiveTheSums) {
  const Context context{{"WINOGRAD", 4}};
  const Made made(GetParam());
  for (const bool fuses : {false, true}) {
    Planned planned(convolution(made.x, made.w, made.b, made.c), for_products(made.c.products),
                    fuses);
    EXPECT_EQ(forms_in(planned.plan()), 1U);
    made.expect_sums(planned);
  }
}

INSTANTIATE_TEST_SUITE_P(Convolutions, FewerProducts,
                         testing::Values(Case{{1, 8, 12, 12}, {16, 8, 3, 3}, 1, 1, 4},
                                         Case{{1, 8, 12, 12}, {16, 8, 3, 3}, 1, 1, 6},
                                         Case{{2, 5, 9, 14}, {7, 5, 3, 3}, 1, 0, 4},
                                         Case{{2, 5, 9, 15}, {7, 5, 3, 3}, 1, 0, 6, true, true},
                                         Case{{1, 16, 7, 7}, {8, 16, 3, 3}, 1, 1, 6, true},
                                         Case{{2, 8, 11, 12}, {9, 8, 5, 5}, 1, 2, 6, false, true},
                                         Case{{1, 8, 10, 13}, {10, 4, 3, 3}, 2, 1, 6},
                                         Case{{1, 8, 3, 30}, {10, 8, 1, 3}, 1, 0, 6},
                                         Case{{1, 8, 3, 31}, {10, 8, 1, 3}, 1, 0, 4, true, true}));

struct BandCase {
  Case of;
  std::int64_t kib;
  std::size_t bands;
  int threads = 1;
};

class InBands : public testing::TestWithParam<BandCase> {};

// Rows of tiles, of which the last band may have fewer and threads get as many each, images, lines.
TEST_P(InBands, GiveTheSums) {
  const auto& [c, kib, bands, threads] = GetParam();
  const Context context{{"WINOGRAD", 4}, {"WINOGRAD_BAND", kib}, {"WEFT_THREADS", threads}};
  const Made made(c);
  Planned planned(convolution(made.x, made.w, made.b, c), for_products(c.products, true));
  EXPECT_EQ(forms_in(planned.plan()), bands);
  made.expect_sums(planned);
}

INSTANTIATE_TEST_SUITE_P(
    Convolutions, InBands,
    testing::Values(BandCase{{{1, 8, 24, 24}, {16, 8, 3, 3}, 1, 1, 6, true}, 44, 3},
                    BandCase{{{1, 8, 24, 24}, {16, 8, 3, 3}, 1, 1, 6, true}, 44, 2, 2},
                    BandCase{{{1, 16, 24, 24}, {16, 16, 3, 3}, 1, 1, 6, true, true}, 56, 3},
                    BandCase{{{1, 16, 26, 9}, {16, 16, 3, 3}, 1, 1, 6, false, true}, 28, 2},
                    BandCase{{{1, 16, 23, 24}, {32, 16, 3, 3}, 1, 0, 4, true}, 68, 6},
                    BandCase{{{6, 16, 8, 8}, {16, 16, 3, 3}, 1, 1, 6, true, true}, 37, 2},
                    BandCase{{{6, 16, 8, 8}, {16, 16, 3, 3}, 1, 1, 6, true, true}, 37, 2, 2},
                    BandCase{{{5, 16, 8, 8}, {16, 16, 3, 3}, 1, 1, 6}, 1, 5},
                    BandCase{{{2, 16, 24, 24}, {16, 16, 3, 3}, 1, 1, 6, true}, 56, 6},
                    BandCase{{{1, 32, 24, 24}, {32, 16, 3, 3}, 2, 1, 6, true}, 64, 3},
                    BandCase{{{1, 16, 1, 98}, {16, 16, 1, 3}, 1, 0, 6, true}, 2, 2}));

// Of bytes, by products of i16 where an instruction adds these up: exactly.
struct ByteCase {
  Case of;
  DType x = dtypes::u8, w = dtypes::i8;
};

Tensor sums_of(const Tensor& x, const Tensor& w, const Case& c, DType dtype) {
  ConvOptions options{.groups = c.groups, .padding = c.padding};
  options.dtype = dtype;
  return x.cast(dtype).conv(w.cast(dtype), {}, options);
}

Tensor bytes(const std::vector<std::int64_t>& sizes, DType dtype) {
  return Tensor::randint(shape(sizes), 0, 256).cast(dtypes::u8).bitcast(dtype).realize();
}

std::vector<MmaShape> words() { return {*find_mma("avx2_i16i16")}; }

class FewerProductsOfBytes : public testing::TestWithParam<ByteCase> {};

TEST_P(FewerProductsOfBytes, AreExact) {
  const Context context{{"WINOGRAD", 4}};
  const auto& [c, left, right] = GetParam();
  const Tensor x = bytes(c.image, left);
  Tensor w = bytes(c.filter, right);
  if (c.is_frozen) w.freeze();
  const auto expected = sums_of(x.to("INTERP"), w.to("INTERP"), c, dtypes::f64).to_vector<double>();
  const Tensor sums = sums_of(x, w, c, dtypes::i32).cast(dtypes::f32);
  Planned planned(sums, for_products(c.products), true, words());
  EXPECT_EQ(forms_in(planned.plan()), 1U);
  const std::vector<float> values = planned.values();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<float>(expected[i])) << "at " << i;
}

INSTANTIATE_TEST_SUITE_P(
    Convolutions, FewerProductsOfBytes,
    testing::Values(ByteCase{{{1, 8, 12, 12}, {16, 8, 3, 3}, 1, 1, 4, true}},
                    ByteCase{{{2, 5, 9, 14}, {7, 5, 3, 3}, 1, 0, 4}, dtypes::u8, dtypes::u8},
                    ByteCase{{{1, 16, 7, 7}, {8, 16, 3, 3}, 1, 1, 4, true}, dtypes::i8, dtypes::i8},
                    ByteCase{{{1, 8, 10, 13}, {10, 4, 3, 3}, 2, 1, 4}, dtypes::i8, dtypes::u8},
                    ByteCase{{{1, 8, 3, 31}, {10, 8, 1, 3}, 1, 0, 4, true}}));

// Where no instruction multiplies i16, sums have no room for their scale, or the points are no whole numbers.
TEST(FewerProductsOfBytes, OfFewChannelsAndTiles) {
  const Context context{{"WINOGRAD", 4}, {"WINOGRAD_BAND", 0}};
  const auto forms = [](std::int64_t channels, std::int64_t products, std::vector<MmaShape> mma) {
    const Case c{{1, channels, 8, 8}, {1, channels, 3, 3}};
    const Tensor sums =
        sums_of(bytes(c.image, dtypes::u8), bytes(c.filter, dtypes::i8), c, dtypes::i32);
    return forms_in(Planned(sums, for_products(products), true, std::move(mma)).plan());
  };
  EXPECT_EQ(forms(64, 4, words()), 1U);
  EXPECT_EQ(forms(64, 4, {*find_mma("avx_u8i8")}), 0U);
  EXPECT_EQ(forms(64, 6, words()), 0U);
  EXPECT_EQ(forms(1827, 4, words()), 1U);
  EXPECT_EQ(forms(1828, 4, words()), 0U);
}

// What is no such convolution has no other form.
TEST(FewerProducts, OfNothingElse) {
  const Context context{{"WINOGRAD", 4}};
  const auto forms = [](const Tensor& tensor) {
    return forms_in(Planned(tensor, for_products(6)).plan());
  };
  const Tensor x = random({1, 8, 12, 12}), w = random({8, 8, 3, 3});
  EXPECT_EQ(forms(x.conv2d(w, {}, {.stride = 2})), 0U);
  EXPECT_EQ(forms(x.conv2d(w, {}, {.dilation = 2})), 0U);
  EXPECT_EQ(forms(x.conv2d(random({8, 8, 1, 1}))), 0U);
  EXPECT_EQ(forms(x.conv2d(random({8, 1, 3, 3}), {}, {.groups = 8})), 0U);  // no channels to sum
  EXPECT_EQ(forms(random({40, 9}).matmul(random({9, 40}))), 0U);
}

TEST(FewerProducts, AreThereWhereTheyAreAskedFor) {
  const Tensor y = random({1, 8, 12, 12}).conv2d(random({8, 8, 3, 3}));
  const auto forms = [&](int outputs, int error, std::int64_t products) {
    const Context context{{"WINOGRAD", outputs}, {"WINOGRAD_ERROR", error}};
    return forms_in(Planned(y, for_products(products)).plan());
  };
  EXPECT_EQ(forms(0, 64, 4), 0U);
  EXPECT_EQ(forms(2, 64, 4), 1U);
  EXPECT_EQ(forms(2, 64, 6), 0U);
  EXPECT_EQ(forms(4, 64, 6), 1U);
  EXPECT_EQ(forms(4, 8, 6), 0U);  // tiles of 4 round more than that
  EXPECT_EQ(forms(4, 8, 4), 1U);
}

// Tiles of four are faster here, but keep 2.6 MB more of a constant filter than tiles of two.
TEST(FewerProducts, WhatTheyKeepOfAFilterIsWorthItsMemory) {
  const Context context{{"WINOGRAD", 4}, {"WINOGRAD_BAND", 0}};
  const auto seconds = [](const UOp& kernel, Symbol device) -> std::optional<double> {
    const bool is_of_four = *for_products(6)(kernel, device) < 1e-3;
    return is_of_four ? 0.8e-4 : for_products(4)(kernel, device);
  };
  for (const bool is_constant : {false, true}) {
    const Tensor x = random({1, 512, 12, 12});
    Tensor w = random({64, 512, 3, 3});
    if (is_constant) w.freeze();
    const Planned planned(x.conv2d(w), seconds);
    ASSERT_EQ(forms_in(planned.plan()), 1U);
    for (const Step& step : planned.plan().steps)
      for (const Node* node : toposort(step.kernel.node()))
        EXPECT_FALSE(node->op() == Op::Param && has_products(node, is_constant ? 6 : 4))
            << "constant " << is_constant;
  }
}

// In the root mean square, beside sums in f64.
TEST(FewerProducts, RoundAsExpected) {
  const Context context{{"WINOGRAD", 4}, {"WINOGRAD_BAND", 0}};
  struct Tile {
    std::int64_t outputs, taps, channels;
  };
  for (const auto& [outputs, taps, channels] :
       {Tile{2, 3, 4}, Tile{2, 3, 256}, Tile{4, 3, 4}, Tile{4, 3, 256}, Tile{2, 5, 64}}) {
    const Tensor x = random({1, channels, 20, 20}), w = random({4, channels, taps, taps});
    Planned planned(x.conv2d(w), for_products(outputs + taps - 1));
    ASSERT_EQ(forms_in(planned.plan()), 1U);
    const auto exact = [](const Tensor& of) { return of.cast(dtypes::f64).to("INTERP"); };
    const auto sums = exact(x).conv2d(exact(w)).to_vector<double>();
    const std::vector<float> values = planned.values();
    double squares = 0, errors = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      squares += sums[i] * sums[i];
      errors += (values[i] - sums[i]) * (values[i] - sums[i]);
    }
    const double units = std::ldexp(std::sqrt(errors / squares), 24),
                 expected = expected_error(outputs, taps, 2, static_cast<double>(channels));
    EXPECT_LT(units, 1.3 * expected) << outputs << " " << taps << " " << channels;
    EXPECT_GT(units, 0.3 * expected) << outputs << " " << taps << " " << channels;
  }
}

// By the model's choice, in calls that are replayed, at once and in bands; the filter gets other values meanwhile.
class Captured : public testing::TestWithParam<int> {};

TEST_P(Captured, GiveTheSums) {
  const Context context{{"WINOGRAD", 4}, {"WINOGRAD_BAND", GetParam()}, {"WEFT_THREADS", 1}};
  Tensor w = random({64, 64, 3, 3});
  w.freeze();
  auto step = jit([&](const Tensor& x) { return x.conv2d(w, {}, {.padding = 1}); });
  const std::size_t kernels = random({1, 64, 40, 40}).conv2d(w, {}, {.padding = 1}).cost().kernels;
  EXPECT_EQ(kernels > 4, GetParam() > 0) << kernels;
  const auto expect_sums = [&] {
    const Tensor x = random({1, 64, 40, 40});
    const Tensor result = step(x).clone().realize();
    const Context without{{"WINOGRAD", 0}};
    EXPECT_TRUE(result.allclose(x.conv2d(w.clone(), {}, {.padding = 1}), 1e-4, 2e-3));
  };
  for (int call = 0; call < 3; ++call) expect_sums();
  for (int change = 0; change < 2; ++change) {
    w.assign(random({64, 64, 3, 3})).realize();
    for (int call = 0; call < 2; ++call) expect_sums();
  }
}

INSTANTIATE_TEST_SUITE_P(FewerProducts, Captured, testing::Values(0, 256));

}  // namespace
}  // namespace weft
