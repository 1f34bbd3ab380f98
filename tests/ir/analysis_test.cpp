// What every node knows besides bounds and shape: ranges, hash, chain.

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>

#include "../support/random_graph.h"

namespace weft {
namespace {

std::string ranges_of(const UOp& node) {
  std::vector<std::uint64_t> ids;
  for (const Node* range : node->ranges()) ids.push_back(range->arg<RangeArg>().id.value);
  return fmt::format("{}", fmt::join(ids, " "));
}

TEST(Ranges, AreThoseThatAValueChangesWith) {
  const UOp a = range(4, 0), b = range(5, 1), c = range(6, 2), n = Variable("n", 1, 9);
  const UOp buffer = make(Op::Buffer, {const_int(4)}, dtypes::f32, BufferArg{});
  const UOp place = make(Op::Index, {buffer, a < 3, b});
  const UOp load = make(Op::Load, {place}), store = make(Op::Store, {place, load}, {}, StoreArg{});
  const auto reduce = [](const std::vector<UOp>& src) {
    return make(Op::Reduce, src, {}, ReduceArg{});
  };
  const auto stage = [](const std::vector<UOp>& src) {
    return make(Op::Stage, src, {}, StageArg{});
  };
  const UOp three = a * b + c;
  const struct {
    UOp node;
    std::string_view ranges;
  } cases[] = {
      {const_int(3), ""},
      {n, ""},
      {a, "0"},
      {a + 1, "0"},
      {a + b, "0 1"},
      {b + a, "0 1"},
      {c * (b + a), "0 1 2"},
      {where(a < b, c, a), "0 1 2"},
      {place, "0 1"},
      {load, "0 1"},
      {store, "0 1"},
      {tuple({c, a}), "0 2"},
      {tuple({a, c}), "0 2"},
      {tuple({}), ""},
      // What the body alone, and what only a source that is no range, changes with.
      {reduce({three, a}), "1 2"},
      {reduce({three, a, c}), "1"},
      {reduce({three, c, b, a}), ""},
      {reduce({three}), "0 1 2"},
      {reduce({a, b}), "0"},
      {reduce({a, a + c}), "0 2"},
      {stage({load, b}), "0"},
      {stage({load, a, b}), ""},
      {make(Op::End, {store, a}), "1"},
      {make(Op::End, {make(Op::End, {store, a}), b}), ""},
      {reduce({three, a}) + a, "0 1 2"},
      // A loop is its own range, however its length comes about.
      {range(n, 7), "7"},
  };
  for (const auto& [node, ranges] : cases)
    EXPECT_EQ(ranges_of(node), ranges) << expression_text(node.node());
}

TEST(Ranges, AreInOrderOfTheirIds) {
  const UOp first = range(4, 3), second = range(4, 5), third = range(4, 40);
  for (const UOp& sum :
       {third + first + second, second + third + first, (first + third) + (third + second)})
    EXPECT_EQ(ranges_of(sum), "3 5 40");
}

TEST(Ranges, OfEqualSetsAreOneNode) {
  const UOp a = range(4, 0), b = range(5, 1);
  EXPECT_EQ((a + b)->ranges().data(), (b * a - 3)->ranges().data());
}

// The set of each node, from the definition.
TEST(Ranges, OfRandomGraphsAreThoseOfTheSources) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Arena arena;
    const InternerScope scope(arena);
    const std::vector<UOp> roots = RandomGraph(seed).roots(80);
    for (const Node* node : toposort(nodes_of(roots))) {
      std::set<const Node*> expected;
      for (const Node* source : node->src())
        expected.insert(source->ranges().begin(), source->ranges().end());
      if (has(node->op(), OpFlag::Closes))
        for (const Node* source : node->src().subspan(1)) expected.erase(source);
      if (node->op() == Op::Range) expected = {node};
      EXPECT_EQ(std::set<const Node*>(node->ranges().begin(), node->ranges().end()), expected)
          << expression_text(node);
      EXPECT_EQ(node->ranges().size(), expected.size());
    }
  }
}

TEST(Hash, IsOfTheStructureWithoutIds) {
  const auto hash = [](const UOp& node) { return node->hash(); };
  EXPECT_EQ(hash(range(4, 0) + 1), hash(range(4, 9) + 1));
  EXPECT_EQ(hash(Variable("n", 0, 3)), hash(Variable("n", 0, 3)));
  EXPECT_NE(hash(Variable("n", 0, 3)), hash(Variable("m", 0, 3)));
  EXPECT_NE(hash(range(4, 0)), hash(range(5, 0)));
  EXPECT_NE(hash(range(4, 0)), hash(range(4, 0, LoopKind::Global)));
}

// Any two that collided would be taken for equal in caches.
TEST(Hash, HasNoCollisionsAmongManySmallNodes) {
  std::set<std::uint64_t> hashes;
  std::size_t count = 0;
  const auto add = [&](const UOp& node) {
    hashes.insert(node->hash());
    ++count;
  };
  const UOp a = range(4, 0);
  for (DType dtype : {dtypes::index, dtypes::i32, dtypes::i32.vec(2), dtypes::f32, dtypes::u64})
    for (std::int64_t value = -500; value < 500; ++value) add(const_int(value, dtype));
  for (std::int64_t value = -500; value < 500; ++value)
    for (Op op : {Op::Add, Op::Mul, Op::CmpLt, Op::Shl}) {
      add(make(op, {a, const_int(value)}));
      add(make(op, {const_int(value), a}));
    }
  for (std::int64_t i = 0; i < 100; ++i)
    for (std::int64_t j = 0; j < 100; ++j) add(sizes({i, j}));
  EXPECT_EQ(hashes.size(), count);
}

TEST(Chain, CountsApplicationsOfAnAssociativeOp) {
  const UOp a = range(4, 0), b = range(4, 1);
  EXPECT_EQ(a->chain(), 0);
  EXPECT_EQ((a + b)->chain(), 1);
  EXPECT_EQ((a + b + a)->chain(), 2);
  EXPECT_EQ((a + (b + a))->chain(), 1);  // along first sources only
  EXPECT_EQ(((a + b) * a)->chain(), 1);
  EXPECT_EQ((a - b)->chain(), 0);
  UOp sum = a;
  for (int i = 0; i < 300; ++i) sum = sum + b;
  EXPECT_EQ(sum->chain(), 255);
}

}  // namespace
}  // namespace weft
