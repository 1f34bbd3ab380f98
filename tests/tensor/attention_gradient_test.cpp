// Gradients of attention whose scores are computed again, beside those that keep them.

#include <functional>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <weft/functional.h>
#include <weft/jit.h>
#include <weft/settings.h>
#include <weft/tensor.h>

namespace weft {
namespace {

using functional::AttentionOptions;

struct Attention {
  Tensor query, key, value;
  AttentionOptions options = {};

  Tensor output() const { return query.scaled_dot_product_attention(key, value, options); }
  std::vector<Tensor> gradients(const Tensor& seed) const {
    return (output() * seed).sum().gradient({query, key, value});
  }
};

Tensor random(const Shape& shape, std::uint64_t seed) {
  Tensor::manual_seed(seed);
  return Tensor::randn(shape).realize().set_requires_grad();
}

Attention attention(std::int64_t queries, std::int64_t keys, std::int64_t heads = 2,
                    std::int64_t of_keys = 2) {
  return {random({3, heads, queries, 8}, 1), random({3, of_keys, keys, 8}, 2),
          random({3, of_keys, keys, 8}, 3)};
}

void expect_same(const Attention& attention, double close = 1e-5) {
  const Tensor seed = random(attention.output().shape(), 4).detach();
  const auto found = [&](const char* megabytes) {
    const Context context{{"ATTENTION_MEMORY", megabytes}};
    std::vector<Tensor> results = attention.gradients(seed);
    results.push_back(attention.output());
    Tensor::realize(results);
    return results;
  };
  const std::vector<Tensor> kept = found("1000"), again = found("0");
  for (std::size_t i = 0; i < kept.size(); ++i)
    EXPECT_TRUE(again[i].allclose(kept[i], close, close)) << i;
}

TEST(AttentionGradient, IsThatOfScoresThatAreKept) {
  expect_same(attention(7, 11));
  expect_same(attention(64, 64));
}

TEST(AttentionGradient, OfHeadsThatShareKeys) {
  Attention shared = attention(9, 13, 4, 2);
  shared.options.enable_gqa = true;
  expect_same(shared);
}

TEST(AttentionGradient, OfBatchesThatAreShared) {
  Attention shared = attention(7, 5);
  shared.key = random({2, 5, 8}, 6);
  shared.value = random({3, 1, 5, 4}, 7);
  expect_same(shared);
}

TEST(AttentionGradient, OfMasks) {
  Attention masked = attention(12, 12);
  masked.options.is_causal = true;
  expect_same(masked);
  masked.options.window = 3;
  expect_same(masked);
  masked.options = {.attn_mask = random({12, 12}, 5).detach()};
  expect_same(masked);
  // The first query sees nobody.
  const Tensor place = Tensor::arange(12);
  masked.options = {.attn_mask = place.unsqueeze(-1) > place};
  expect_same(masked);
  EXPECT_TRUE(masked.gradients(Tensor::ones({3, 2, 12, 8}))[0].isfinite().all().item<bool>());
}

TEST(AttentionGradient, OfHalves) {
  Attention half = attention(10, 10);
  for (Tensor* each : {&half.query, &half.key, &half.value})
    *each = each->detach().cast(dtypes::f16).realize().set_requires_grad();
  expect_same(half, 2e-3);
}

// A mask that learns, and shares that are dropped, need the scores.
TEST(AttentionGradient, OfAMaskThatIsTracked) {
  const Context context{{"ATTENTION_MEMORY", "0"}};
  Attention masked = attention(6, 6);
  const Tensor mask = random({6, 6}, 5);
  masked.options = {.attn_mask = mask};
  const Tensor of_mask = masked.output().square().sum().gradient({mask})[0];
  EXPECT_GT(of_mask.abs().max().item<float>(), 0);
}

TEST(AttentionGradient, GoesOnToFurtherGradients) {
  const auto of_gradient = [](const char* megabytes) {
    const Context context{{"ATTENTION_MEMORY", megabytes}};
    const Attention twice = attention(5, 6);
    const Tensor seed = random({3, 2, 5, 8}, 4).detach();
    const Tensor first = twice.gradients(seed)[0];
    return first.square().sum().gradient({twice.query, twice.key, twice.value});
  };
  const std::vector<Tensor> kept = of_gradient("1000"), again = of_gradient("0");
  for (std::size_t i = 0; i < kept.size(); ++i)
    EXPECT_TRUE(again[i].allclose(kept[i], 1e-4, 1e-4)) << i;
}

TEST(AttentionGradient, Replays) {
  const Context context{{"ATTENTION_MEMORY", "0"}};
  const Attention each = attention(16, 16);
  using Function = std::function<std::vector<Tensor>(const Tensor&)>;
  Jit<Function> replayed(Function([&](const Tensor& seed) { return each.gradients(seed); }));
  for (std::uint64_t call = 0; call < 4; ++call) {
    const Tensor seed = random({3, 2, 16, 8}, 10 + call).detach();
    const std::vector<Tensor> found = replayed(seed), expected = each.gradients(seed);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(found[i].allclose(expected[i], 1e-5, 1e-5)) << call;
  }
}

// Twice the tokens need twice the memory, where scores would need four times as much.
TEST(AttentionGradient, NeedsMemoryForEachToken) {
  const auto bytes = [](std::int64_t tokens) {
    const Context context{{"ATTENTION_MEMORY", "1"}};
    const Shape shape{1, 12, tokens, 64};
    const Attention large{random(shape, 1), random(shape, 2), random(shape, 3)};
    return Tensor::cost(large.gradients(Tensor::ones(shape).realize())).peak_bytes();
  };
  const auto half = static_cast<double>(bytes(2048)), whole = static_cast<double>(bytes(4096));
  EXPECT_LT(whole, 2.1 * half);
  EXPECT_LT(whole, 100e6);
}

}  // namespace
}  // namespace weft
