// What is computed of narrow floats and integers: the result is in their range, what it is made of is not.

#include "tensor_test.h"

namespace weft {
namespace {

namespace F = functional;

const DType halves[] = {dtypes::f16, dtypes::bf16};

Tensor narrow(const std::vector<double>& values, DType dtype = dtypes::f16) {
  return Tensor(values).cast(dtype);
}

Tensor row(const std::vector<double>& values) { return narrow(values).unsqueeze(0); }

Tensor zeros(std::int64_t count) { return Tensor::zeros({count}, {.dtype = dtypes::i32}); }

// Within two units in the last place of f16 about 1.
bool is_about(const Tensor& tensor, double expected, double tolerance = 2e-3) {
  return std::abs(tensor.item<double>() - expected) <= tolerance * std::abs(expected);
}

TEST(Narrow, CosinesOfAnyLength) {
  for (const DType dtype : halves) {
    SCOPED_TRACE(dtype.str());
    const auto cosine = [&](const std::vector<double>& a, const std::vector<double>& b) {
      return F::cosine_similarity(narrow(a, dtype), narrow(b, dtype), 0);
    };
    EXPECT_EQ(cosine({400, -400}, {400, -400}).dtype(), dtype);
    EXPECT_TRUE(holds<double>(cosine({400, -400}, {400, -400}), {1}, {}));
    EXPECT_TRUE(holds<double>(cosine({1e-4, 1e-4}, {1e-4, 1e-4}), {1}, {}));
    EXPECT_TRUE(holds<double>(cosine({400, -400}, {-1e-4, 1e-4}), {-1}, {}));
    EXPECT_TRUE(holds<double>(cosine({0, 0}, {400, -400}), {0}, {}));
    const Tensor same = narrow({400, -400}, dtype).unsqueeze(0);
    EXPECT_TRUE(holds<double>(F::cosine_embedding_loss(same, same, Tensor({1})), {0}, {}));
  }
}

TEST(Narrow, CosinesHaveGradients) {
  Tensor x = narrow({400, -400, 0}).realize().set_requires_grad();
  F::cosine_similarity(x, narrow({1, 2, 3}), 0).backward();
  EXPECT_TRUE(near(x.grad(), {7.087e-4, 7.087e-4, 1.4174e-3}, {3}, 2e-6));
}

TEST(Narrow, CosinesOfIntegersDoNotWrapAround) {
  const Tensor a = narrow({100, 100}, dtypes::u8), b = narrow({100, 0}, dtypes::u8);
  EXPECT_TRUE(near(F::cosine_similarity(a, b, 0), {0.70710678}, {}));
  EXPECT_TRUE(near(F::pairwise_distance(b, a), {100}, {}));
}

TEST(Narrow, LossesOfPairs) {
  const Tensor rows = narrow({400, -400, 1, 2}).reshape({2, 2});
  // The cosine of the two rows is -0.3162: the logarithm of 1 + exp(-1.3162).
  EXPECT_TRUE(near(F::contrastive_loss(rows, rows, {.temperature = 1}), {0.23763}, {}, 3e-4));
  const std::vector<double> scores{300, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_TRUE(
      is_about(F::multi_margin_loss(row(scores), Tensor({1}), {.p = 2}), (300.0 * 300 + 6) / 8));
  const std::int64_t classes = 1000;
  const Tensor first = Tensor::full({1, classes}, -1).index_put({zeros(1), zeros(1)}, 0);
  const Tensor many =
      Tensor::full({1, classes}, 99, {.dtype = dtypes::f16}).index_put({zeros(1), zeros(1)}, 0);
  EXPECT_TRUE(is_about(F::multilabel_margin_loss(many, first), 99.9));
}

TEST(Narrow, LossesOfNumbers) {
  const Tensor x = narrow({400, 0, 0, 0}), none = narrow({0, 0, 0, 0});
  EXPECT_TRUE(is_about(x.mse_loss(none), 40000));
  EXPECT_TRUE(is_about(F::huber_loss(x, none, 1000), 20000));
  EXPECT_TRUE(is_about(F::smooth_l1_loss(x, none, 1000), 20));
  EXPECT_TRUE(is_about(F::gaussian_nll_loss(narrow({400}), narrow({0}), narrow({1000})),
                       (std::log(1000) + 160) / 2));
  EXPECT_TRUE(is_about(F::poisson_nll_loss(narrow({0}), narrow({1}), {.log_input = false}),
                       -std::log(1e-8)));
  EXPECT_TRUE(is_about(narrow({10}).binary_crossentropy_logits(narrow({1})), 4.5399e-5));
  const Tensor bytes = narrow({100, 3}, dtypes::u8), others = narrow({0, 5}, dtypes::u8);
  EXPECT_TRUE(holds<float>(bytes.mse_loss(others, Reduction::None), {10000, 4}, {2}));
  EXPECT_TRUE(holds<float>(F::l1_loss(bytes, others, Reduction::None), {100, 2}, {2}));
}

TEST(Narrow, LossesOfMany) {
  const std::int64_t count = 70000;
  const Tensor scores = narrow({1, 2}).expand({count, 2}), target = zeros(count);
  const double each = std::log(1 + std::exp(1));
  EXPECT_TRUE(is_about(scores.cross_entropy(target, {.ignore_index = 5}), each));
  EXPECT_TRUE(is_about(scores.cross_entropy(target, {.weight = narrow({2, 1})}), each));
  EXPECT_TRUE(is_about(scores.nll_loss(target, {}, 5), -1));
  EXPECT_EQ(scores.cross_entropy(target, {.ignore_index = 5}).dtype(), dtypes::f16);
  const Tensor one = narrow({1}).expand({1, count});
  EXPECT_TRUE(holds<double>(F::dice_loss(one, one), {0}, {}));
  EXPECT_TRUE(is_about(F::kl_div(narrow({-1}).expand({count, 1}), narrow({3}).expand({count, 1}),
                                 {.batch_mean = true}),
                       3 * std::log(3) + 3));
}

TEST(Narrow, NormsOfMatricesAndWindows) {
  EXPECT_TRUE(is_about(linalg::cond(narrow({1e-5, 0, 0, 1e-5}).reshape({2, 2}), 1), 1));
  EXPECT_TRUE(near(narrow({400, 0, 0, 400}).reshape({2, 2}).newton_schulz(0, {1.0}),
                   {0.7071, 0, 0, 0.7071}, {2, 2}, 1e-3));
  EXPECT_TRUE(is_about(F::lp_pool1d(narrow({400, -400}).reshape({1, 1, 2}), 2, {2}), 565.685));
  EXPECT_TRUE(
      near(F::weight_norm(row({1e-5, -1e-5}), narrow({1})), {0.7071, -0.7071}, {1, 2}, 1e-2));
}

TEST(Narrow, Histograms) {
  const Tensor far = narrow({-60000, 60000, 0});
  EXPECT_TRUE(holds<double>(far.histc(3), {1, 1, 1}, {3}));
  EXPECT_TRUE(holds<double>(far.histogram(3).edges, {-60000, -20000, 20000, 60000}, {4}));
  const Tensor many = narrow({1, 2}).repeat({70000});
  EXPECT_TRUE(holds<double>(many.histogram(2, {.density = true}).counts, {1, 1}, {2}));
}

// 200 of 100 and one of 50 are 20050; in 8 bits neither sum nor count is.
TEST(Narrow, MeansOfManyIntegers) {
  using enum Tensor::Reduce;
  for (const DType dtype : {dtypes::u8, dtypes::i8, dtypes::i16}) {
    SCOPED_TRACE(dtype.str());
    const Tensor start = Tensor::full({1}, 50, {.dtype = dtype});
    const Tensor many = Tensor::full({400}, 100, {.dtype = dtype});
    const Tensor with = start.scatter_reduce(0, zeros(400), many, Mean);
    EXPECT_EQ(with.dtype(), dtype);
    EXPECT_TRUE(holds<int>(with, {99}, {1}));
    EXPECT_TRUE(holds<int>(start.scatter_reduce(0, zeros(400), many, Mean, false), {100}, {1}));
  }
  const Tensor below = narrow({-1, -3, -1}, dtypes::i8), none = narrow({0}, dtypes::i8);
  EXPECT_TRUE(holds<int>(none.scatter_reduce(0, zeros(3), below, Mean, false), {-2}, {1}));
}

TEST(Narrow, SharesOfManyLargest) {
  for (const DType dtype : halves) {
    Tensor x = Tensor::ones({3000}, {.dtype = dtype}).realize().set_requires_grad();
    const Tensor none = Tensor::zeros({1}, {.dtype = dtype});
    none.scatter_reduce(0, zeros(3000), x, Tensor::Reduce::Amax).sum().backward();
    EXPECT_TRUE(is_about(x.grad()[0], 1.0 / 3000));
  }
}

TEST(Narrow, BagsOfManyRows) {
  const Tensor one = narrow({1}, dtypes::bf16).unsqueeze(0), begin = zeros(1);
  const auto bag = [&](F::Bag mode) {
    return F::embedding_bag(zeros(3000), one, {.mode = mode, .offsets = begin});
  };
  EXPECT_TRUE(holds<double>(bag(F::Bag::Sum), {3008}, {1, 1}));
  EXPECT_TRUE(holds<double>(bag(F::Bag::Mean), {1}, {1, 1}));
  const Tensor large =
      F::embedding_bag(zeros(3).unsqueeze(0), row({60000}), {.mode = F::Bag::Mean});
  EXPECT_TRUE(holds<double>(large, {60000}, {1, 1}));
}

TEST(Narrow, ManyAreAddedAtOnePlace) {
  for (const DType dtype : halves) {
    SCOPED_TRACE(dtype.str());
    const Tensor ones = Tensor::ones({3000}, {.dtype = dtype}), index = zeros(3000);
    const double count = dtype == dtypes::bf16 ? 3008 : 3000;
    const Tensor none = Tensor::zeros({2}, {.dtype = dtype});
    EXPECT_TRUE(holds<double>(none.index_add(0, index, ones), {count, 0}, {2}));
    EXPECT_TRUE(holds<double>(none.scatter_add(0, index, ones), {count, 0}, {2}));
    Tensor table = none.clone().realize().set_requires_grad();
    table.index_select(0, index).sum().backward();
    EXPECT_EQ(table.grad().dtype(), dtype);
    EXPECT_TRUE(holds<double>(table.grad(), {count, 0}, {2}));
  }
}

TEST(Narrow, BetweenIntegers) {
  const Tensor large = narrow({200, 10}, dtypes::u8), small = narrow({100, 20}, dtypes::u8);
  EXPECT_TRUE(holds<double>(large.lerp(small, 0.5), {150, 15}, {2}));
  EXPECT_EQ(large.lerp(small, 0.5).dtype(), dtypes::f32);
}

}  // namespace
}  // namespace weft
