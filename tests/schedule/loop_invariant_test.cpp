// Factors that stand outside of a sum: what is left inside, and that the values are the same.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <weft/dev/ir/graph.h>
#include <weft/weft.h>

#include "../../src/schedule/graph/loop_invariant.h"

namespace weft {
namespace {

Tensor filled(std::int64_t rows, std::int64_t columns, double step) {
  return (Tensor::arange(rows * columns) * step)
      .sin()
      .reshape({rows, columns})
      .contiguous()
      .realize();
}

// How many products have at least so many elements.
std::ptrdiff_t products(const std::vector<UOp>& tensors, double least) {
  std::ptrdiff_t count = 0;
  for (const Node* node : toposort(nodes_of(tensors))) {
    double elements = 1;
    if (node->op() != Op::Mul) continue;
    for (const Node* size : node->dims()) elements *= static_cast<double>(size->lo());
    count += elements >= least;
  }
  return count;
}

std::ptrdiff_t quotients(const std::vector<UOp>& tensors) {
  return std::ranges::count(toposort(nodes_of(tensors)), Op::Div, &Node::op);
}

// Of rows that a mask hides, zeros.
Tensor guarded_shares(const Tensor& scores, const Tensor& seen) {
  const Tensor masked = seen.where(scores, -HUGE_VAL), most = masked.max(-1, true);
  const Tensor e = (masked - (most == -HUGE_VAL).where(0, most)).exp(), sum = e.sum(-1, true);
  return e / (sum == 0).where(1, sum);
}

struct Case {
  const char* name;
  Tensor (*value)(const Tensor& x, const Tensor& y);
  int products_inside;  // without the one that is summed
};

TEST(Hoisted, FactorsOfWholeRowsStandOutside) {
  const Tensor x = filled(6, 32, 0.7), y = filled(32, 8, 1.3);
  const Case cases[] = {
      {"a softmax", [](const Tensor& a, const Tensor& b) { return a.softmax(-1).matmul(b); }, 1},
      {"rows by their norm",
       [](const Tensor& a, const Tensor& b) {
         return (a * (a * a).sum(1, true).reciprocal()).matmul(b);
       },
       1},
      {"columns by one divided by a sum",
       [](const Tensor& a, const Tensor& b) {
         return a.matmul(b * (1 + b.abs().sum(0, true)).reciprocal());
       },
       0},
      {"both by a number",
       [](const Tensor& a, const Tensor& b) { return (a * 0.3).matmul(b * 0.7); }, 0},
      {"rows by a factor that is summed along",
       [](const Tensor& a, const Tensor& b) { return a.matmul(b * b.sum(1, true)); }, 1},
  };
  for (const Case& c : cases) {
    const Tensor value = c.value(x, y);
    const std::vector<UOp> outside = with_invariants_hoisted({value.uop()});
    EXPECT_EQ(products(outside, 6 * 32 * 8), 1) << c.name;
    EXPECT_EQ(products(outside, 32 * 6) - 1, c.products_inside) << c.name;
    const Tensor expected =
        c.value(x.to("INTERP").cast(dtypes::f64), y.to("INTERP").cast(dtypes::f64));
    EXPECT_LT((value.to("INTERP") - expected).abs().max().item<double>(), 1e-4) << c.name;
  }
}

// A sum is the same to all that read it, whether they are sums with factors themselves or not.
TEST(Hoisted, SumsInSumsAreThereOnce) {
  const Tensor x = filled(6, 8, 0.7), y = filled(8, 8, 1.3);
  Tensor value = x;
  for (int layer = 0; layer < 4; ++layer) value = (value * 0.5).matmul(y) + value;
  const std::vector<UOp> outside = with_invariants_hoisted({value.uop()});
  EXPECT_EQ(std::ranges::count(toposort(nodes_of(outside)), Op::Reduce, &Node::op), 4);
  EXPECT_EQ(products(outside, 6 * 8 * 8), 4);
  EXPECT_EQ(products(outside, 6 * 8), 8);
}

// What is divided is another in each iteration; what it is divided by is not.
TEST(Hoisted, DivisorsOfWholeRowsStandOutside) {
  const Tensor x = filled(6, 32, 0.7), y = filled(32, 8, 1.3);
  const auto elements_of_divisor = [](const UOp& tensor) {
    double elements = 0;
    for (const Node* node : toposort(tensor.node())) {
      if (node->op() != Op::Div) continue;
      elements = 1;
      for (const Node* size : node->dims()) elements *= static_cast<double>(size->lo());
    }
    return elements;
  };
  const auto divided = [](const Tensor& a, const Tensor& b) {
    return (a / a.abs().sum(1, true)).matmul(b);
  };
  const auto masked = [](const Tensor& a, const Tensor& b) {
    const Tensor row = Tensor::arange(6, {.device = a.device()}).unsqueeze(1);
    const Tensor seen = (Tensor::arange(32, {.device = a.device()}) < row * 5);
    return guarded_shares(a, seen).matmul(b);
  };
  const auto dividing = [](const Tensor& a, const Tensor& b) {
    return (a.abs().sum(1, true) / (a + 2)).matmul(b);
  };
  const auto check = [&](const auto& value, bool is_outside) {
    const Tensor given = value(x, y);
    const std::vector<UOp> outside = with_invariants_hoisted({given.uop()});
    EXPECT_EQ(quotients(outside), 1);
    EXPECT_EQ(elements_of_divisor(outside[0]), is_outside ? 6 * 8 : 6 * 32);
    const Tensor exact = value(x.to("INTERP").cast(dtypes::f64), y.to("INTERP").cast(dtypes::f64));
    EXPECT_LT((given.to("INTERP") - exact).abs().max().template item<double>(), 1e-5);
  };
  check(divided, true);
  check(masked, true);
  check(dividing, false);
}

// Else it would be computed for each of its users.
TEST(Hoisted, WhatOthersNeedStaysAsItIs) {
  const Tensor x = filled(6, 32, 0.7), y = filled(32, 8, 1.3);
  const Tensor shares = x.softmax(-1);
  const std::vector<UOp> wanted{shares.matmul(y).uop(), shares.uop()};
  EXPECT_EQ(with_invariants_hoisted(wanted)[0].node(), wanted[0].node());
}

// Where it is infinite the sum of the others is no number, and what a mask hides may be large.
TEST(Hoisted, WhatMayBeInfiniteOrHidesStaysAsItIs) {
  const Tensor x = filled(6, 32, 0.7), y = filled(32, 8, 1.3), row = filled(6, 1, 0.3);
  const Tensor factors[] = {x.sum(1, true).reciprocal(),
                            1 / row,
                            row.log(),
                            row,
                            row * 2,
                            x.sum(1, true),
                            row.abs(),
                            row.pow(-1),
                            (row > 0).cast(dtypes::f32),
                            (row > 0).where(row, 0),
                            x.sum(1, true) / x.max(1, true)};
  const auto is_hoisted = [](const Tensor& value) {
    return with_invariants_hoisted({value.uop()})[0].node() != value.uop().node();
  };
  for (const Tensor& factor : factors) EXPECT_FALSE(is_hoisted((x * factor).matmul(y)));
  for (const Tensor& divisor : {x.sum(1, true), x.abs().max({1}, true), row, row.exp() - row})
    EXPECT_FALSE(is_hoisted((x / divisor).matmul(y)));
  for (const Tensor& divisor :
       {x.square().mean(1, true) + 1e-5, row.exp(), row.abs().maximum(1e-6)})
    EXPECT_TRUE(is_hoisted((x / divisor.sqrt()).matmul(y)));
  const Tensor codes = Tensor::arange(6 * 32).cast(dtypes::i8).reshape({6, 32}).realize();
  EXPECT_TRUE(is_hoisted((codes.cast(dtypes::f32) * row).matmul(y)));
  EXPECT_TRUE(is_hoisted(((codes.cast(dtypes::f32) - 8) * (row * 0.5)).matmul(y)));
  EXPECT_TRUE(is_hoisted((x * filled(6, 1, 0.3).freeze()).matmul(y)));
  EXPECT_FALSE(is_hoisted((x * HUGE_VAL).matmul(y)));
  EXPECT_FALSE(is_hoisted((x / 0.0).matmul(y)));
  const Context fast{{"FASTMATH", 1}};
  for (const Tensor& factor : factors) EXPECT_TRUE(is_hoisted((x * factor).matmul(y)));
}

TEST(Hoisted, DivisorsOfZeroGiveWhatTheyGiveAlone) {
  const Tensor z = Tensor({{1.0, -1.0, 0.0}}).realize(),
               y = Tensor({{1.0}, {2.0}, {5.0}}).realize();
  EXPECT_TRUE(std::isnan((z / z.sum(1, true)).matmul(y).item<float>()));
  const Tensor large = Tensor({{1e25, 2e25}}).realize();
  const Tensor scaled = large / large.abs().max(1, true);
  EXPECT_NEAR((scaled * scaled.contiguous()).sum().item<float>(), 1.25, 1e-6);
  const Tensor infinite = Tensor({{HUGE_VAL}}).cast(dtypes::f32).realize();
  EXPECT_TRUE(std::isnan((z * infinite).matmul(y).item<float>()));
  const Tensor lowest = Tensor::full({2, 3}, -3e38).realize(),
               seen = Tensor({{true}, {false}}).realize();
  const Tensor hidden = (lowest * seen.cast(dtypes::f32)).matmul(y);
  EXPECT_EQ(hidden[1].item<float>(), 0);
  const Tensor mask = seen.cast(dtypes::f32).realize();
  EXPECT_EQ((lowest * mask).matmul(y)[1].item<float>(), 0);
}

// Of no elements there is no first one; and a sum of nothing is 0, whatever it would be multiplied by.
TEST(Hoisted, SumsOfNothingStayAsTheyAre) {
  const Tensor x = Tensor::zeros({3, 0}).contiguous().realize(), y = filled(3, 1, 0.7);
  const Tensor infinite = y.reciprocal() * 0 + HUGE_VAL;
  const Tensor b = Tensor::zeros({0, 2}).contiguous().realize();
  for (const Tensor& factor : {y, infinite}) {
    const std::vector<UOp> wanted{(x * factor).matmul(b).uop()};
    EXPECT_EQ(with_invariants_hoisted(wanted)[0].node(), wanted[0].node());
    EXPECT_EQ((x * factor).matmul(b).to_vector<float>(), std::vector<float>(6));
  }
}

// Scores for all pairs lie in no memory between kernels, however many there are.
TEST(Hoisted, AttentionIsOneKernel) {
  for (const auto& [tokens, width] : {std::pair{64, 16}, {512, 16}, {4096, 16}, {8192, 64}}) {
    const auto heads = [&](double step) {
      return filled(2 * tokens, width, step).reshape({1, 2, tokens, width});
    };
    const Tensor q = heads(0.7), k = heads(1.3), v = heads(0.3);
    const Tensor mask = (filled(tokens, tokens, 1.1) > 0).contiguous().realize();
    const functional::AttentionOptions cases[] = {
        {}, {.is_causal = true}, {.attn_mask = mask}, {.is_causal = true, .window = 100}};
    for (const auto& options : cases)
      EXPECT_EQ(functional::scaled_dot_product_attention(q, k, v, options).schedule().size(), 1U)
          << tokens << " tokens, " << (&options - cases);
  }
}

}  // namespace
}  // namespace weft
