// What golden cases cannot say of attention: symbolic sizes, dropout, more keys than are gone through at once.

#include <algorithm>
#include <numeric>

#include <weft/dev/codegen/choose.h>
#include <weft/dev/compile/pipeline.h>
#include <weft/dev/device/device.h>
#include <weft/dev/ir/graph.h>

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

// Where there are too many keys to keep all scores of a query, the maximum and the sums go through blocks, in one kernel.
struct ManyKeys {
  const char* name;
  std::int64_t tokens, width, shared;  // so many heads share one of the keys
  bool (*sees)(std::int64_t query, std::int64_t key);
  double of_nothing;  // what a query gets that sees no key
  Tensor (*value)(const Tensor& q, const Tensor& k, const Tensor& v);
};

bool sees_all(std::int64_t, std::int64_t) { return true; }
bool sees_before(std::int64_t query, std::int64_t key) { return key <= query; }
// Every third query sees no key, and those at the end none of the first blocks.
template <class Truth, class Place>
Truth is_among_some(const Place& query, const Place& key) {
  return (query % 3 != 0) & (key * 2 > query) & ((query * 7 + key * 5) % 11 < 4);
}
bool sees_some(std::int64_t query, std::int64_t key) { return is_among_some<bool>(query, key); }

Tensor those_seen(const Tensor& q) {
  const Tensor key = Tensor::arange(q.size(-2));
  return is_among_some<Tensor>(key.unsqueeze(1), key).realize();
}
Tensor to_all(const Tensor& q, const Tensor& k, const Tensor& v) {
  return F::scaled_dot_product_attention(q, k, v);
}
Tensor to_those_before(const Tensor& q, const Tensor& k, const Tensor& v) {
  return F::scaled_dot_product_attention(q, k, v, {.is_causal = true, .enable_gqa = true});
}
Tensor to_some(const Tensor& q, const Tensor& k, const Tensor& v) {
  return F::scaled_dot_product_attention(q, k, v, {.attn_mask = those_seen(q)});
}
Tensor scores_by_hand(const Tensor& q, const Tensor& k) {
  return q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(-1)));
}
Tensor to_all_by_hand(const Tensor& q, const Tensor& k, const Tensor& v) {
  return scores_by_hand(q, k).softmax(-1).matmul(v);
}
Tensor to_some_by_hand(const Tensor& q, const Tensor& k, const Tensor& v) {
  return those_seen(q).where(scores_by_hand(q, k), -HUGE_VAL).softmax(-1).matmul(v);
}

// The schedule of the only kernel.
std::string only_schedule(const Tensor& value) {
  const std::vector<ScheduleItem> kernels = value.schedule();
  EXPECT_EQ(kernels.size(), 1U);
  const Target target = find_device(kernels[0].device).target();
  Arena arena;
  const InternerScope scope(arena);
  const UOp own = import_graph(nodes_of({&kernels[0].kernel, 1}), shared_graph(), arena)[0];
  const UOp until = run_pipeline_until("optimise", {own}, {.target = target})[0];
  return to_string(choose_schedule(ready_to_schedule(until).node(), target));
}

// The rows of all heads, one after the other.
struct HeadRows {
  std::vector<float> list;
  std::int64_t width;

  explicit HeadRows(const Tensor& heads) : list(heads.to_vector<float>()), width(heads.size(-1)) {}
  double at(std::int64_t row, std::int64_t column) const {
    return list[static_cast<std::size_t>(row * width + column)];
  }
};

// What a query gets by sums over all keys, in f64.
std::vector<double> attended(const ManyKeys& c, const HeadRows& queries, const HeadRows& keys,
                             const HeadRows& values, std::int64_t row) {
  const std::int64_t first = row / c.tokens / c.shared * c.tokens;
  std::vector<double> scores, result;
  std::vector<std::int64_t> seen;
  for (std::int64_t key = first; key < first + c.tokens; ++key) {
    if (!c.sees(row % c.tokens, key - first)) continue;
    double score = 0;
    for (std::int64_t d = 0; d < c.width; ++d) score += queries.at(row, d) * keys.at(key, d);
    scores.push_back(score / std::sqrt(static_cast<double>(c.width)));
    seen.push_back(key);
  }
  if (seen.empty()) return std::vector<double>(static_cast<std::size_t>(c.width), c.of_nothing);
  const double top = *std::ranges::max_element(scores);
  for (double& score : scores) score = std::exp(score - top);
  const double all = std::accumulate(scores.begin(), scores.end(), 0.0);
  for (std::int64_t d = 0; d < c.width; ++d) {
    double sum = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) sum += scores[i] * values.at(seen[i], d);
    result.push_back(sum / all);
  }
  return result;
}

class AttentionToMany : public testing::TestWithParam<ManyKeys> {};

TEST_P(AttentionToMany, IsThatToAllAtOnce) {
  const ManyKeys& c = GetParam();
  Tensor::manual_seed(4);
  const auto heads = [&](std::int64_t count) {
    return Tensor::randn({count, c.tokens, c.width}).realize();
  };
  const Tensor q = (heads(2 * c.shared) * 3).realize(), k = heads(2), v = heads(2);
  const Tensor value = c.value(q, k, v);
  EXPECT_NE(only_schedule(value).find("online "), std::string::npos);
  const HeadRows queries(q), keys(k), values(v), found(value);
  for (std::int64_t row = 0; row < 2 * c.shared * c.tokens; row += 89) {
    const std::vector<double> expected = attended(c, queries, keys, values, row);
    for (std::int64_t d = 0; d < c.width; ++d)
      if (const double wanted = expected[static_cast<std::size_t>(d)]; std::isnan(wanted))
        ASSERT_TRUE(std::isnan(found.at(row, d))) << row << ", " << d;
      else
        ASSERT_NEAR(found.at(row, d), wanted, 5e-6) << row << ", " << d;
  }
}

// Only blocks of an odd size divide 2055 keys, none divide 2053; 17, 40 or 72 columns are no whole vectors of 16.
INSTANTIATE_TEST_SUITE_P(
    Keys, AttentionToMany,
    testing::Values(ManyKeys{"all", 2055, 17, 1, sees_all, 0, to_all},
                    ManyKeys{"all_by_hand", 2048, 40, 1, sees_all, 0, to_all_by_hand},
                    ManyKeys{"those_before", 2048, 72, 1, sees_before, 0, to_those_before},
                    ManyKeys{"those_before_of_shared_heads", 2053, 40, 2, sees_before, 0,
                             to_those_before},
                    ManyKeys{"some", 2048, 40, 1, sees_some, 0, to_some},
                    ManyKeys{"some_by_hand", 2055, 17, 1, sees_some, NAN, to_some_by_hand}),
    [](const auto& info) { return info.param.name; });

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
