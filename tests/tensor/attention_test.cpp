// What golden cases cannot say of attention: symbolic sizes, dropout.

#include "tensor_test.h"

namespace weft {
namespace {

namespace F = functional;

TEST(Attention, DropoutKeepsTheMean) {
  Tensor::manual_seed(1);
  const Tensor q = Tensor::zeros({4, 8}), v = Tensor::ones({1000, 8});
  const Tensor k = Tensor::zeros({1000, 8});
  const Tensor y = F::scaled_dot_product_attention(q, k, v, {.dropout_p = 0.25});
  EXPECT_NEAR(y.mean().item<double>(), 1, 0.05);
  EXPECT_GT(y.std().item<double>(), 1e-4);  // who is dropped differs from query to query
  const Tensor none = F::scaled_dot_product_attention(q, k, v, {.dropout_p = 1});
  EXPECT_EQ(none.abs().max().item<double>(), 0);
}

TEST(Attention, HalvesAreComputedInF32) {
  const Tensor q = Tensor::full({1, 64}, 100, {.dtype = dtypes::f16});
  const Tensor k = Tensor::full({2, 64}, 100, {.dtype = dtypes::f16});
  const Tensor v = Tensor::ones({2, 64}, {.dtype = dtypes::f16});
  const Tensor y =
      F::scaled_dot_product_attention(q, k, v);  // the scores are beyond what f16 holds
  EXPECT_EQ(y.dtype(), dtypes::f16);
  EXPECT_NEAR(y.mean().item<double>(), 1, 1e-3);
}

// As a layer has them: tokens, heads, width. Queries are the loop that threads share and a sum's own tile.
TEST(Attention, OfHeadsBesideEachOther) {
  Tensor::manual_seed(3);
  const auto random = [] { return Tensor::randn({128, 12, 64}).realize(); };
  const Tensor q = random(), k = random(), v = random();
  const auto head = [](const Tensor& x, std::int64_t at) {
    return x.narrow(1, at, 1).squeeze(1).contiguous().realize();
  };
  const auto heads_first = [](const Tensor& x) { return x.transpose(0, 1); };
  const Tensor all =
      F::scaled_dot_product_attention(heads_first(q), heads_first(k), heads_first(v));
  const Tensor layer = heads_first(all).contiguous().realize();
  for (const std::int64_t at : {0, 7, 11}) {
    const Tensor scores = (head(q, at).matmul(head(k, at).T()) / 8).softmax(-1).realize();
    EXPECT_TRUE(head(layer, at).allclose(scores.matmul(head(v, at)), 1e-5, 1e-5)) << at;
  }
}

TEST(Rotary,
     PlacesShiftTogether) {  // the products of turned vectors depend on their distance alone
  Tensor::manual_seed(2);
  const Tensor a = Tensor::randn({1, 8}), b = Tensor::randn({1, 8});
  const auto product = [&](std::int64_t of_a, std::int64_t of_b) {
    return (F::rotary_embedding(a, {.offset = of_a}) * F::rotary_embedding(b, {.offset = of_b}))
        .sum()
        .item<double>();
  };
  EXPECT_NEAR(product(3, 5), product(13, 15), 1e-4);
  EXPECT_GT(std::abs(product(3, 5) - product(3, 9)), 1e-3);
}

TEST(Attention, SymbolicSizes) {
  const UOp n = Variable("n", 1, 8);
  const Tensor q = Tensor::ones({2, 4}), k = Tensor::ones({Dim(n), 4});
  const Tensor y = F::scaled_dot_product_attention(q, k, k, {.is_causal = true, .window = 3});
  EXPECT_EQ(y.shape(), (Sizes64{2, 4}));
  EXPECT_TRUE(F::rotary_embedding(k, {.offset = n}).dims()[0].uop().is(n));
}

}  // namespace
}  // namespace weft
