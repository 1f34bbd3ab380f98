// Chains so deep that anything recursive runs out of stack, and anything quadratic out of time.

#include <ctime>
#include <limits>

#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rewrite/rewriter.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>

#include "../support/nodes.h"

namespace weft {
namespace {

// Of ops that no rule merges.
UOp chain(int length) {
  const UOp a = range(64, 1), b = range(64, 0);
  UOp x = a;
  for (int i = 0; i < length; ++i) x = i % 2 == 0 ? make(Op::Xor, {x, a}) : make(Op::CDiv, {b, x});
  return x;
}

const RuleSet& cdiv_to_floordiv() {
  static const Pat x = ints("x"), y = ints("y");
  static const RuleSet rules{"cdiv_to_floordiv", {rule(node(Op::CDiv, {x, y}), x / y)}};
  return rules;
}

// Everything that walks graphs. The results are used, so that nothing is left out.
void use(int length) {
  const UOp deep = chain(length);
  const auto roots = nodes_of({deep});
  const auto order = toposort(deep.node());
  ASSERT_EQ(order.size(), static_cast<std::size_t>(length) + 3);
  ASSERT_EQ(deep->ranges().size(), 2u);

  const std::string text = print_graph("deep", roots);
  ASSERT_TRUE(parse_node(text).is(deep));
  ASSERT_TRUE(print_graph("deep", roots, {.renumber = true}) == text);
  ASSERT_LT(expression_text(deep.node()).size(), 10'000u);

  const UOp a(order[2]), other = range(64, 2);
  const UOp moved = substitute(deep, {{a.node(), other}});
  ASSERT_FALSE(depends_on(moved.node(), a.node()));
  ASSERT_TRUE(substitute(moved, {{other.node(), a}}).is(deep));
  ASSERT_EQ(structural_hash(nodes_of({moved})), structural_hash(roots));
  ASSERT_EQ(forward_slice(roots, a.node()).size(), order.size() - 2);

  ASSERT_TRUE(evaluate(deep.node(), {{a.node(), 5}, {order[1], 9}}));
  const UOp rewritten = rewrite(deep, cdiv_to_floordiv());
  ASSERT_EQ(toposort(rewritten.node()).size(), order.size());
  ASSERT_FALSE(rewritten.is(deep));
}

TEST(DeepGraph, WorksInAnArena) {
  Arena arena;
  const InternerScope scope(arena);
  use(200'000);
}

TEST(DeepGraph, WorksInTheSharedGraphAndIsFreed) {
  const std::size_t before = shared_graph().size();
  use(100'000);
  EXPECT_EQ(shared_graph().size(), before);
}

TEST(DeepGraph, OfAMillionNodesIsBuiltHashedAndFreed) {
  const std::size_t before = shared_graph().size();
  const auto hash = [] {
    const UOp deep = chain(1'000'000);
    return structural_hash(nodes_of({deep}));
  };
  const StructuralHash shared = hash();
  EXPECT_EQ(shared_graph().size(), before);
  Arena arena;
  const InternerScope scope(arena);
  EXPECT_EQ(hash(), shared);
}

// Each PAD has a shape of its own, whose size is a sum with one term more.
TEST(DeepGraph, OfSymbolicSizesIsFreed) {
  const std::size_t before = shared_graph().size();
  {
    const UOp n = Variable("n", 0, 3), none = sizes({0}), some = tuple({n});
    UOp x = make(Op::Param, {n}, dtypes::f32, ParamArg{});
    for (int i = 0; i < 100'000; ++i) x = make(Op::Pad, {x, some, none});
    EXPECT_EQ(x->dims()[0]->hi(), 300'003);
    EXPECT_EQ(toposort(x->dims()[0]).size(), 100'001u);
    try {
      make(Op::Flip, {x}, {}, AxesArg{IntList({1})});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_LT(std::string_view(error.what()).size(), 1000u);
    }
  }
  EXPECT_EQ(shared_graph().size(), before);
}

TEST(DeepGraph, IsSimplified) {
  const std::size_t before = shared_graph().size();
  {
    const UOp deep = chain(100'000);
    const UOp simple = simplify(deep);
    const auto order = toposort(deep.node());
    for (Bits b : {0, 1, 17, 63}) {
      const Assignment leaves{{order[1], b}, {order[2], 5}};
      EXPECT_EQ(evaluate(simple.node(), leaves), evaluate(deep.node(), leaves));
    }
  }
  EXPECT_EQ(shared_graph().size(), before);
}

// Of this process alone, so that a busy machine changes nothing.
double seconds(int length) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    use(length);
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

// Ten times the nodes take ten times as long; if time grew with their square, a hundred times.
TEST(DeepGraph, TakesLinearTime) { EXPECT_LT(seconds(50'000) / seconds(5'000), 40); }

}  // namespace
}  // namespace weft
