// Threads that build, rewrite and destroy the same graphs at the same time.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/dev/rules/symbolic.h>

#include "../support/nodes.h"
#include "../support/random_expression.h"
#include "../support/random_graph.h"
#include "../support/threads.h"

namespace weft {
namespace {

constexpr int threads = 4, rounds = 400;

std::uint64_t seed_of(int round) { return static_cast<std::uint64_t>(round % 8 + 1); }

// The same few expressions in all threads, each alive in some and dying in others.
UOp expression(int round) { return RandomExpression(seed_of(round)).integer(); }

std::string text_of(const UOp& node) { return print_graph("g", nodes_of({node})); }

TEST(Threads, BuildRewriteAndDestroyInTheSharedGraph) {
  simplify(expression(0));  // leaves behind what rule sets keep
  const std::size_t before = shared_graph().size();
  std::vector<std::string> results(threads);
  in_threads(threads, [&](int thread) {
    std::vector<UOp> kept;
    for (int round = 0; round < rounds; ++round) {
      const UOp simple = simplify(expression(round + thread));
      if (round % 3 == 0) kept.push_back(simple);
      if (kept.size() > 3) kept.erase(kept.begin());
    }
    for (int round = 0; round < 8; ++round) results[thread] += text_of(simplify(expression(round)));
  });
  for (const std::string& result : results) EXPECT_EQ(result, results[0]);
  EXPECT_EQ(shared_graph().size(), before);
}

TEST(Threads, MakeAndLoseTheSameNodes) {
  const std::size_t before = shared_graph().size();
  in_threads(threads, [](int) {
    // Each node is found, made or revived while others let go of it; with shapes and range sets.
    for (int i = 0; i < 20'000; ++i) {
      const UOp a = range(4, 0), b = range(5, 1), size = const_int(i % 5 + 1);
      const UOp x = make(Op::Param, {size, size}, dtypes::f32, ParamArg{});
      const UOp padded = make(Op::Pad, {x, sizes({1, 0}), sizes({0, 1})});
      const UOp sum = make(Op::Reduce, {a * b + i % 7, a}, {}, ReduceArg{});
      ASSERT_EQ(sum->ranges().size(), 1u);
      ASSERT_EQ(padded->dims()[0]->lo(), size->lo() + 1);
    }
  });
  EXPECT_EQ(shared_graph().size(), before);
}

TEST(Threads, HandOverHandles) {
  const std::size_t before = shared_graph().size();
  {
    std::vector<UOp> roots;
    for (int round = 0; round < 8; ++round) roots.push_back(expression(round));
    const std::vector<UOp> expected = roots;
    in_threads(threads, [&](int thread) {
      for (int i = 0; i < 20'000; ++i) {
        UOp copy = roots[static_cast<std::size_t>(i + thread) % roots.size()];
        const UOp moved = std::move(copy);
        const UOp sum = moved + moved;
        ASSERT_TRUE(sum.src(0).is(moved));
      }
    });
    for (std::size_t i = 0; i < roots.size(); ++i) EXPECT_TRUE(roots[i].is(expected[i]));
  }
  EXPECT_EQ(shared_graph().size(), before);
}

TEST(Threads, AnnotateTheSameNodes) {
  const std::size_t before = shared_graph().size();
  in_threads(threads, [](int thread) {
    for (int i = 0; i < 5000; ++i) {
      const UOp node = const_int(i % 10) + range(4, 0);
      shared_graph().annotate(node.node(), static_cast<Origin>(thread));
      const auto origin = shared_graph().origin(node.node());
      ASSERT_TRUE(origin && *origin < static_cast<Origin>(threads));
    }
  });
  EXPECT_EQ(shared_graph().size(), before);
  EXPECT_EQ(shared_graph().origin((const_int(1) + range(4, 0)).node()), std::nullopt);
}

TEST(Threads, WorkInArenasOfTheirOwn) {
  const std::size_t before = shared_graph().size();
  std::vector<std::string> results(threads);
  in_threads(threads, [&](int thread) {
    Arena arena;
    for (int round = 0; round < rounds; ++round) {
      arena.reset();
      const InternerScope scope(arena);
      const std::vector<UOp> roots = RandomGraph(seed_of(round)).roots(60);
      const std::string text = print_graph("g", nodes_of(roots));
      ASSERT_EQ(parse_graphs(text)[0].roots.size(), roots.size());
      const UOp simple = simplify(expression(round));
      // Out to where the others are, and back.
      const std::vector<UOp> shared = import_graph(nodes_of({simple}), arena, shared_graph());
      ASSERT_TRUE(import_graph(std::vector{shared[0].node()}, shared_graph(), arena)[0].is(simple));
      if (round < 8) results[thread] += text + text_of(simple);
    }
  });
  for (const std::string& result : results) EXPECT_EQ(result, results[0]);
  EXPECT_EQ(shared_graph().size(), before);
}

}  // namespace
}  // namespace weft
