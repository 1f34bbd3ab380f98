#include <cmath>
#include <limits>

#include "tensor_test.h"

namespace weft {
namespace {

const Tensor& table() {
  static const Tensor x{{1.0, 5.0, 3.0}, {4.0, -2.0, 6.0}};
  return x;
}

TEST(TensorReduce, OverAnyAxes) {
  EXPECT_TRUE(holds<float>(table().sum(), {17}, {}));
  EXPECT_TRUE(holds<float>(table().sum(0), {5, 3, 9}, {3}));
  EXPECT_TRUE(holds<float>(table().sum(-1, true), {9, 8}, {2, 1}));
  EXPECT_TRUE(holds<float>(table().sum({0, 1}, true), {17}, {1, 1}));
  EXPECT_TRUE(holds<float>(table().prod(1), {15, -48}, {2}));
  EXPECT_TRUE(holds<float>(table().max(0), {4, 5, 6}, {3}));
  EXPECT_TRUE(holds<float>(table().min(1), {1, -2}, {2}));
  EXPECT_TRUE(holds<float>(table().mean(0), {2.5F, 1.5F, 4.5F}, {3}));
  EXPECT_TRUE(holds<float>(Tensor(3.0).sum(), {3}, {}));
  EXPECT_EQ(error_of([] { table().sum(2); }), "sum: there is no axis 2 in a tensor of 2 axes");
  EXPECT_EQ(error_of([] { table().sum({0, -2}); }), "sum: axis -2 is given twice");
}

TEST(TensorReduce, DtypesOfSums) {
  const auto of = [](DType dtype) { return Tensor::ones({3}, {.dtype = dtype}).sum().dtype(); };
  EXPECT_EQ(of(dtypes::bool_), dtypes::i64);
  EXPECT_EQ(of(dtypes::i8), dtypes::i64);
  EXPECT_EQ(of(dtypes::u8), dtypes::i64);
  EXPECT_EQ(of(dtypes::i64), dtypes::i64);
  EXPECT_EQ(of(dtypes::f16), dtypes::f16);
  EXPECT_EQ(of(dtypes::f64), dtypes::f64);
  EXPECT_EQ(Tensor::ones({3}, {.dtype = dtypes::f16}).sum({}, false, dtypes::f32).dtype(),
            dtypes::f32);
  EXPECT_TRUE(holds<int>(Tensor::full({300}, 100, {.dtype = dtypes::i8}).sum(), {30000}, {}));
}

// 4096 + 1 is 4096 in f16: in f16 alone the sum would stop there.
TEST(TensorReduce, HalvesAddUpInSinglePrecision) {
  const Tensor x = Tensor::cat({Tensor({4096.0}), Tensor::ones({64})}).cast(dtypes::f16);
  EXPECT_EQ(x.sum().item<float>(), 4160.0F);
  EXPECT_EQ(x.sum({}, false, dtypes::f16).item<float>(), 4160.0F);
  const Tensor ones = Tensor::ones({1000}, {.dtype = dtypes::bf16});
  EXPECT_EQ(ones.cumsum(0, dtypes::bf16)[-1].item<float>(), 1000.0F);
  const Context interpreted{{"DEV", "INTERP"}};
  EXPECT_EQ(Tensor::ones({1000}).sum({}, false, dtypes::bf16).item<float>(), 1000.0F);
}

// The sum of the values alone is infinite.
TEST(TensorReduce, SumsOfMaskedLargeValuesAreFinite) {
  const Tensor x = Tensor::full({4, 8, 64}, -3e38).contiguous().realize();
  const Tensor mask = Tensor::zeros({4, 8, 1}).contiguous().realize();
  EXPECT_EQ((x * mask).sum({1, 2}).to_vector<float>(), std::vector<float>(4, 0));
  const Tensor small = Tensor::full({4, 8, 1}, 1e-3).contiguous().realize();
  EXPECT_NEAR((x * small).sum({1, 2})[0].item<float>(), -1.536e38, 1e33);
}

TEST(TensorReduce, ExtremesOfIntegersAndBools) {
  const Tensor x({3, -7, std::numeric_limits<int>::min()}), u({7, 0, 255}, {.dtype = dtypes::u8});
  EXPECT_EQ(x.min().item<int>(), std::numeric_limits<int>::min());
  EXPECT_EQ(x.max().item<int>(), 3);
  EXPECT_EQ(u.min().item<int>(), 0);
  EXPECT_EQ(u.max().item<int>(), 255);
  const Tensor b{{true, false}, {true, true}};
  EXPECT_TRUE(holds<bool>(b.all(1), {false, true}, {2}));
  EXPECT_TRUE(holds<bool>(b.any(1), {true, true}, {2}));
  EXPECT_TRUE(holds<bool>(Tensor({0.0, 0.0}).any(), {false}, {}));
  EXPECT_EQ(error_of([] { Tensor::zeros({0, 2}).max(); }),
            "max: axis 0 of shape (0, 2) has no elements");
  EXPECT_EQ(Tensor::zeros({0, 2}).sum().item<float>(), 0.0F);
}

TEST(TensorReduce, VarianceAndDeviation) {
  const Tensor x({1.0, 2.0, 4.0, 9.0});
  EXPECT_NEAR(x.var().item<double>(), 38.0 / 3, 1e-5);
  EXPECT_NEAR(x.var({}, false, 0).item<double>(), 38.0 / 4, 1e-5);
  EXPECT_NEAR(x.std().item<double>(), std::sqrt(38.0 / 3), 1e-5);
  EXPECT_TRUE(near(table().var(1), {4, 17.333333}, {2}));
}

TEST(TensorReduce, PlacesOfExtremes) {
  EXPECT_EQ(table().argmax().item<int>(), 5);
  EXPECT_TRUE(holds<int>(table().argmax(0), {1, 0, 1}, {3}));
  EXPECT_TRUE(holds<int>(table().argmin(1, true), {0, 1}, {2, 1}));
  EXPECT_EQ(Tensor({2, 7, 7}).argmax().item<int>(), 1);
  EXPECT_EQ(Tensor({7, 2, 2}).argmin().item<int>(), 1);
  EXPECT_EQ(Tensor({1.0, std::nan(""), 3.0}).argmax().item<int>(), 1);
}

TEST(TensorReduce, Softmax) {
  std::vector<double> soft, logs;
  const std::vector<double> values{1, 5, 3, 4, -2, 6};
  for (int row = 0; row < 2; ++row) {
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += std::exp(values[static_cast<std::size_t>(row * 3 + i)]);
    for (int i = 0; i < 3; ++i) {
      soft.push_back(std::exp(values[static_cast<std::size_t>(row * 3 + i)]) / sum);
      logs.push_back(std::log(soft.back()));
    }
  }
  EXPECT_TRUE(near(table().softmax(), soft, {2, 3}, 1e-6));
  EXPECT_TRUE(near(table().log_softmax(), logs, {2, 3}, 1e-6));
  EXPECT_TRUE(near(table().T().softmax(0).T(), soft, {2, 3}, 1e-6));
  EXPECT_TRUE(near(Tensor({1000.0, 1000.0}).softmax(), {0.5, 0.5}, {2}));
  EXPECT_TRUE(near(Tensor({1000.0, 1000.0}).logsumexp(), {1000 + std::log(2.0)}, {}));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(near(Tensor({-infinity, -infinity}).logsumexp(0, true), {-infinity}, {1}));
  const Tensor bytes({1, 3}, {.dtype = dtypes::u8});
  EXPECT_TRUE(near(bytes.logsumexp(), {3 + std::log1p(std::exp(-2))}, {}));
}

TEST(TensorReduce, RunningSums) {
  EXPECT_TRUE(holds<float>(table().cumsum(1), {1, 6, 9, 4, 2, 8}, {2, 3}));
  EXPECT_TRUE(holds<float>(table().cumsum(), {1, 5, 3, 5, 3, 9}, {2, 3}));
  EXPECT_TRUE(
      holds<int>(Tensor::ones({20}, {.dtype = dtypes::i32}).cumsum()[Slice{-2}], {19, 20}, {2}));
  EXPECT_TRUE(holds<float>(Tensor::zeros({2, 0}).cumsum(1), {}, {2, 0}));
  std::vector<int> sums;
  for (int i = 0, sum = 0; i < 9000; ++i) sums.push_back(sum += i % 7 - 2);
  const Tensor x = Tensor::arange(9000) % 7 - 2;
  EXPECT_TRUE(holds<int>(x.cumsum(), sums, {9000}));
  EXPECT_TRUE(
      holds<int>(x.reshape({4500, 2}).T().cumsum(0).cumsum(1)[{1, Slice{-1}}], {sums.back()}, {1}));
}

// The sum of its exponentials has no f16.
TEST(TensorReduce, SoftmaxOfManyHalves) {
  const Tensor x = Tensor::zeros({1, 1 << 17}, {.dtype = dtypes::f16}).contiguous();
  const std::vector<float> shares = x.softmax(1).to_vector<float>();
  EXPECT_NEAR(shares[0], 1.0F / (1 << 17), 1e-7);
  const std::vector<float> logs = x.log_softmax(1).to_vector<float>();
  EXPECT_NEAR(logs[0], -17 * std::log(2.0F), 0.01);
}

// One maximum is of another that others use as well.
TEST(TensorReduce, ReductionsOfWhatIsTheSameAllAlong) {
  const Tensor flags = Tensor({false, true}).realize();
  EXPECT_EQ(flags.any().expand({3}).argmax().item<int>(), 0);
  const Tensor halves = Tensor({1.f, 2.f}).cast(dtypes::f16).realize();
  const Tensor sum = halves.sum(0, true).expand({4});
  EXPECT_TRUE(holds<float>((sum.sum() - sum).cast(dtypes::f32), {9, 9, 9, 9}, {4}));
}

// Of as many elements as a run has.
TEST(TensorReduce, MeansOfSymbolicSizes) {
  const UOp n = Variable("n", 1, 8);
  const Tensor all = Tensor::arange(8, {.dtype = dtypes::f32}).realize();
  for (const std::int64_t count : {1, 3, 8}) {
    const Dim bound(make(Op::Bind, {n, const_int(count)}));
    const Tensor some = all.shrink({{0, bound}}), fixed = all.shrink({{0, count}});
    EXPECT_EQ(some.mean().item<float>(), static_cast<float>(count - 1) / 2);
    if (count > 1) {
      EXPECT_NEAR(some.var().item<float>(), fixed.var().item<float>(), 1e-6);
    }
    EXPECT_EQ(Tensor::cat({some, some, all.shrink({{0, 2}})}).sum().item<float>(),
              static_cast<float>(count * (count - 1) + 1));
  }
  EXPECT_TRUE(std::isnan(all.shrink({{0, Dim(1)}}).var().item<float>()));
}

// Schedules of its nests, each legal by itself, are refused together.
TEST(TensorReduce, MeanOfWhatIsPutTogether) {
  for (const std::int64_t columns : {5, 6, 9}) {
    std::vector<float> numbers;
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < 2 * columns; ++i) {
      numbers.push_back(static_cast<float>(i * 7 % 11) / 2 - 2);
      sum += 2.0 * numbers.back();
      squares += 2.0 * numbers.back() * numbers.back();
    }
    const Tensor y = Tensor(numbers).reshape({2, columns}).realize();
    Tensor none = Tensor(numbers).reshape({2, columns, 1}).argmin(2);
    const Tensor all = Tensor::cat({none, y, y}, 0);
    none *= 4;
    const auto [variance, middle] = all.var_mean({1, 0}, false, 0);
    none.realize();
    const double count = 6.0 * static_cast<double>(columns), mean = sum / count;
    EXPECT_NEAR(middle.item<float>(), mean, 1e-5);
    EXPECT_NEAR(variance.item<float>(), squares / count - mean * mean, 1e-5);
  }
}

// As PyTorch has them: the variances are infinite and 0.
TEST(TensorReduce, DeviationsOfNarrowFloats) {
  const Tensor large = Tensor({400.0, -400.0}).cast(dtypes::f16).realize(),
               small = Tensor({1e-4, 3e-4}).cast(dtypes::f16);
  EXPECT_TRUE(holds<double>(large.std(), {565.5}, {}));
  EXPECT_TRUE(holds<double>(small.std(), {0.00014138221740722656}, {}));
  EXPECT_TRUE(holds<double>(small.std_mean().first, {0.00014138221740722656}, {}));
  EXPECT_TRUE(near(large.std().gradient({large})[0], {0.7071, -0.7071}, {2}, 1e-3));
}

}  // namespace
}  // namespace weft
