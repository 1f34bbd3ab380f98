#include <weft/dev/ir/graph.h>

#include <algorithm>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "../support/nodes.h"
#include "../support/random_graph.h"

namespace weft {
namespace {

StructuralHash hash_of(const UOp& root) { return structural_hash(nodes_of({root})); }

UOp param(std::initializer_list<std::int64_t> dims, DType dtype = dtypes::f32) {
  std::vector<UOp> src;
  for (std::int64_t size : dims) src.push_back(const_int(size));
  return make(Op::Param, src, dtype, ParamArg{});
}

TEST(NodeMap, HoldsValuesUntilItsEnd) {
  const UOp a = const_int(1), b = const_int(2);
  {
    NodeMap<int> map;
    EXPECT_EQ(map.find(a.node()), nullptr);
    EXPECT_TRUE(map.insert(a.node(), 7));
    EXPECT_FALSE(map.insert(a.node(), 8));
    EXPECT_EQ(*map.find(a.node()), 7);
    map.set(a.node(), 9);
    EXPECT_EQ(*map.find(a.node()), 9);
    NodeMap<int> other;  // at the same time: storage of its own
    EXPECT_FALSE(other.contains(a.node()));
    other.set(b.node(), 1);
    EXPECT_FALSE(map.contains(b.node()));
  }
  EXPECT_FALSE(NodeMap<int>().contains(a.node()));  // storage used again
}

TEST(Toposort, PutsSourcesFirstInTheirOrder) {
  const UOp a = range(4, 0), b = range(8, 1), sum = a + b, product = sum * a;
  const std::vector<const Node*> expected = {a->src(0), a.node(),   b->src(0),
                                             b.node(),  sum.node(), product.node()};
  EXPECT_EQ(toposort(product.node()), expected);
}

TEST(Toposort, TakesSeveralRootsAndEachNodeOnce) {
  const UOp a = const_int(1), b = const_int(2), sum = a + b;
  EXPECT_EQ(toposort(nodes_of({b, sum, b, a, sum})), nodes_of({b, a, sum}));
  EXPECT_TRUE(toposort(NodeList()).empty());
}

TEST(Toposort, OfRandomGraphsIsCompleteAndOrdered) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Arena arena;
    const InternerScope scope(arena);
    const std::vector<const Node*> roots = nodes_of(RandomGraph(seed).roots(50));
    const std::vector<const Node*> order = toposort(roots);
    NodeMap<bool> seen;
    for (const Node* node : order) {
      for (const Node* source : node->src()) EXPECT_TRUE(seen.contains(source));
      EXPECT_TRUE(seen.insert(node, true));
    }
    for (const Node* root : roots) EXPECT_TRUE(seen.contains(root));
  }
}

TEST(ForwardSlice, IsWhatDependsOnANode) {
  const UOp a = range(4, 0), b = range(8, 1), x = a + 1, y = b + 1, sum = x * y, other = y * 2;
  EXPECT_EQ(forward_slice(nodes_of({sum, other}), a.node()), nodes_of({a, x, sum}));
  EXPECT_EQ(forward_slice(nodes_of({sum, other}), y.node()), nodes_of({y, sum, other}));
  EXPECT_TRUE(forward_slice(nodes_of({other}), a.node()).empty());
  EXPECT_TRUE(depends_on(sum.node(), a.node()));
  EXPECT_TRUE(depends_on(sum.node(), sum.node()));
  EXPECT_FALSE(depends_on(other.node(), a.node()));
  EXPECT_FALSE(depends_on(x.node(), sum.node()));
}

TEST(Substitute, RebuildsWhatDependsOnTheReplaced) {
  const UOp a = range(4, 0), b = range(8, 1), c = range(2, 2);
  const UOp expression = (a + b) * (b - 3);
  EXPECT_TRUE(substitute(expression, {{a.node(), c}}).is((c + b) * (b - 3)));
  EXPECT_TRUE(substitute(expression, {{c.node(), a}}).is(expression));
  EXPECT_TRUE(substitute(expression, {}).is(expression));
  EXPECT_TRUE(substitute(a, {{a.node(), b}}).is(b));
  // At once, not one after the other.
  EXPECT_TRUE(substitute(a - b, {{a.node(), b}, {b.node(), a}}).is(b - a));
}

TEST(Substitute, DoesNotLookIntoOrBelowReplacements) {
  const UOp a = range(4, 0), b = range(8, 1), sum = a + b;
  EXPECT_TRUE(substitute(sum * 2, {{sum.node(), a - 1}, {a.node(), b}}).is((a - 1) * 2));
  // What lies below a replaced node is gone, so it need not fit.
  const UOp small = param({4}), large = param({8});
  const UOp square = make(Op::Reshape, {small, sizes({2, 2})}), flat = param({2, 2});
  const UOp both = make(Op::Tuple, {-square, small});
  EXPECT_TRUE(substitute(both, {{square.node(), flat}, {small.node(), large}})
                  .is(make(Op::Tuple, {-flat, large})));
  EXPECT_THROW(substitute(both, {{small.node(), large}}), Error);
}

TEST(Substitute, WantsReplacementsOfTheSameDtype) {
  const UOp a = range(4, 0), b = range(8, 1), narrow = cast(b, dtypes::i32);
  const auto error_of = [&](const UOp& root, const Substitution& by) -> std::string {
    try {
      return expression_text(substitute(root, by).node());
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(error_of(a + 1, {{a.node(), narrow}}),
            "substitute: r0 is index, and cast<i32>(r1) in its place is i32: cast it first");
  EXPECT_EQ(error_of(a, {{a.node(), narrow}}),
            "substitute: r0 is index, and cast<i32>(r1) in its place is i32: cast it first");
  EXPECT_EQ(error_of(a + 1, {{a.node(), UOp()}}), "substitute: r0 by a null handle");
  // What the root does not have is not asked for.
  EXPECT_EQ(error_of(a + 1, {{b.node(), narrow}}), "r0 + 1");
  EXPECT_EQ(error_of(a + 1, {{a.node(), cast(narrow, dtypes::index)}}),
            "cast<index>(cast<i32>(r1)) + 1");
}

TEST(Substitute, GivesNewShapesRangesAndBounds) {
  const UOp a = range(4, 0), b = range(8, 1);
  const UOp sum = substitute(a + 1, {{a.node(), a * b}});
  EXPECT_EQ(sum->ranges().size(), 2u);
  EXPECT_EQ(sum->hi(), 22);
  const UOp small = param({4}), wide = param({4, 2});
  EXPECT_EQ(substitute(-small, {{small.node(), wide}})->shape(), wide->shape());
}

TEST(WithSources, KeepsOpAndArg) {
  const UOp a = range(4, 0), b = const_int(3, dtypes::i32);
  const UOp place = param({4, 4}), tall = param({8, 4});
  const UOp turned = make(Op::Permute, {place}, {}, AxesArg{IntList({1, 0})});
  EXPECT_TRUE(
      with_sources(turned, {tall}).is(make(Op::Permute, {tall}, {}, AxesArg{IntList({1, 0})})));
  EXPECT_TRUE(with_sources(a + a, {b, b}).is(b + b));  // the dtype follows
  EXPECT_THROW(with_sources(a + a, {a, b}), Error);
  EXPECT_THROW(with_sources(a + a, {a}), Error);
}

TEST(ImportGraph, CopiesBetweenInterners) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const std::size_t before = shared_graph().size();
    {
      Arena arena, other;
      const InternerScope scope(arena);
      const std::vector<const Node*> roots = nodes_of(RandomGraph(seed).roots(50));
      const std::string text = print_graph("g", roots);
      const std::vector<UOp> shared = import_graph(roots, arena, shared_graph());
      EXPECT_EQ(print_graph("g", nodes_of(shared)), text);
      for (const UOp& root : shared) EXPECT_TRUE(root->is_counted());
      const std::vector<UOp> copies = import_graph(nodes_of(shared), shared_graph(), other);
      EXPECT_EQ(print_graph("g", nodes_of(copies)), text);
      EXPECT_EQ(nodes_of(import_graph(nodes_of(copies), other, arena)), roots);

      // What is known about the nodes came along.
      const auto a = toposort(roots), b = toposort(nodes_of(copies));
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i]->hash(), b[i]->hash());
        EXPECT_EQ(a[i]->bounds(), b[i]->bounds());
        EXPECT_EQ(a[i]->is_exact(), b[i]->is_exact());
        EXPECT_EQ(a[i]->dims().size(), b[i]->dims().size());
        EXPECT_EQ(a[i]->ranges().size(), b[i]->ranges().size());
        EXPECT_EQ(a[i]->chain(), b[i]->chain());
      }
    }
    EXPECT_EQ(shared_graph().size(), before);
  }
}

TEST(StructuralHash, IsOfTheStructureNotTheIds) {
  const auto build = [](std::uint64_t first, std::uint64_t second, std::uint64_t buffer) {
    const UOp a = range(4, first), b = range(4, second);
    const UOp place = make(Op::Buffer, {const_int(4)}, dtypes::f32, BufferArg{{buffer}});
    return hash_of(tuple({a + b, a, place}));
  };
  EXPECT_EQ(build(0, 1, 2), build(7, 3, 12));
  EXPECT_EQ(build(0, 1, 2), build(0, 1, 0));  // ids of different ops have nothing in common
  EXPECT_NE(build(0, 1, 2), build(5, 5, 2));
}

TEST(StructuralHash, DiffersWithAnythingElse) {
  const UOp a = range(4, 0), b = range(4, 1), c = range(5, 2);
  const auto fragment = [](std::string_view name) {
    return make(Op::Custom, {}, DType::fragment(name), CustomArg{});
  };
  const std::vector<UOp> different = {
      a,
      c,
      a + a,
      a + b,
      a - b,
      a + c,
      (a + b) + a,
      (a + b) + b,
      a + (a + b),
      const_int(1),
      const_int(1, dtypes::i32),
      const_int(1, dtypes::i32.vec(2)),
      const_float(0.0),
      const_float(-0.0),
      tuple({}),
      tuple({a}),
      tuple({a, a}),
      tuple({a, b}),
      tuple({a, b, a}),
      tuple({a, b, b}),
      make(Op::Copy, {a}, {}, DeviceArg{Symbol("x")}),
      make(Op::Copy, {a}, {}, DeviceArg{Symbol("y")}),
      fragment("a"),
      fragment("b"),
      fragment("c"),
  };
  for (const UOp& x : different)
    for (const UOp& y : different)
      EXPECT_EQ(hash_of(x) == hash_of(y), x.is(y))
          << expression_text(x.node()) << " and " << expression_text(y.node());
}

TEST(StructuralHash, CountsTheRootsInOrder) {
  const UOp a = const_int(1), b = const_int(2);
  const StructuralHash both = structural_hash(nodes_of({a, b}));
  EXPECT_EQ(both, structural_hash(nodes_of({a, b})));
  EXPECT_NE(both, structural_hash(nodes_of({b, a})));
  EXPECT_NE(both, structural_hash(nodes_of({a, b, b})));
  EXPECT_NE(structural_hash(nodes_of({a})), structural_hash(nodes_of({a, a})));
}

TEST(Evaluate, ComputesUnderAnAssignment) {
  const UOp r = range(10, 0), n = Variable("n", -9, 9);
  const UOp i = make(Op::Special, {const_int(8)}, {}, SpecialArg{});
  const Assignment leaves{{r.node(), Bits{7}}, {n.node(), Bits(-3)}, {i.node(), Bits{2}}};
  const struct {
    UOp expression;
    std::int64_t value;
  } cases[] = {
      {const_int(5), 5},
      {r, 7},
      {r * n + i, -19},
      {r / n, -3},
      {r % n, -2},
      {make(Op::CDiv, {r, n}), -2},
      {where(r < i, r, n), -3},
      {r == r, 1},
      {min(n, i), -3},
      {cast(n, dtypes::u8), 253},
      {cast(r < i, dtypes::i32), 0},
      {bitcast(cast(n, dtypes::u8), dtypes::i8), -3},
      {bitcast(const_float(1, dtypes::f32), dtypes::i32), 0x3f800000},
      {const_int(200, dtypes::u8) + const_int(100, dtypes::u8), 44},
      {make(Op::Bind, {n, const_int(4)}), -3},
  };
  for (const auto& [expression, value] : cases) {
    EXPECT_EQ(evaluate(expression.node(), leaves), Bits(value))
        << expression_text(expression.node());
  }
}

TEST(Evaluate, GivesNothingWhereThereIsNoValue) {
  const UOp r = range(10, 0), x = range(10, 1), f = const_float(0.5, dtypes::f32);
  const Assignment leaves{{r.node(), Bits{7}}};
  const UOp cases[] = {
      x,
      r + x,
      where(const_bool(true), r, x),
      param({}),
      make(Op::Exp2, {f}),
      make(Op::Reduce, {r, r}, {}, ReduceArg{}),
      tuple({r}),
      make(Op::Custom, {r}, dtypes::index, CustomArg{}),
      make(Op::After, {r, make(Op::Barrier, {}, {}, ScopeArg{})}),
  };
  for (const UOp& expression : cases)
    EXPECT_EQ(evaluate(expression.node(), leaves), std::nullopt)
        << expression_text(expression.node());
  // An inner node may have a value given, whatever it is.
  const UOp custom = make(Op::Custom, {}, dtypes::index, CustomArg{});
  EXPECT_EQ(evaluate((custom + r).node(), {{r.node(), 1}, {custom.node(), 2}}), Bits{3});
}

}  // namespace
}  // namespace weft
