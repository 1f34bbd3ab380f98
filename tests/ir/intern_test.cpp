// Both interners: what is one node and what is not, and how long it lives.

#include <weft/dev/ir/interner.h>

#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "../support/errors.h"
#include "../support/nodes.h"
#include "../support/random_graph.h"

namespace weft {
namespace {

constexpr DType f32 = dtypes::f32;

UOp param(std::initializer_list<std::int64_t> dims) {
  std::vector<UOp> src;
  for (std::int64_t size : dims) src.push_back(const_int(size));
  return make(Op::Param, src, f32, ParamArg{});
}

// Runs the body in the shared graph, then in an arena.
void in_both(const std::function<void()>& body) {
  {
    SCOPED_TRACE("shared graph");
    body();
  }
  SCOPED_TRACE("arena");
  Arena arena;
  const InternerScope scope(arena);
  body();
}

// Each different from all others.
std::vector<UOp> different_nodes() {
  const UOp a = range(4, 0), b = range(4, 1), x = param({4});
  return {
      const_int(1),
      const_int(2),
      const_int(1, dtypes::i32),
      const_int(1, dtypes::i32.vec(4)),
      const_int(1, dtypes::u32),
      const_bool(true),
      const_float(0.0, f32),
      const_float(-0.0, f32),
      const_bits(f32, 0x7fc00000),
      const_bits(f32, 0x7fc00001),
      a,
      b,
      range(4, 0, LoopKind::Reduce),
      range(5, 0),
      a + b,
      b + a,
      a + a,
      a - b,
      (a + b) + a,
      cast(a, dtypes::i32),
      cast(a, dtypes::i64),
      make(Op::Custom, {}, DType::fragment("x"), CustomArg{}),
      make(Op::Custom, {}, DType::fragment("y"), CustomArg{}),
      tuple({}),
      tuple({a}),
      tuple({a, a}),
      tuple({a, b}),
      tuple({b, a}),
      x,
      make(Op::Param, {const_int(4)}, f32, ParamArg{1}),
      make(Op::Param, {const_int(4)}, f32, ParamArg{0, Access::Write}),
      make(Op::Flip, {x}, {}, AxesArg{IntList({0})}),
      make(Op::Flip, {x}, {}, AxesArg{}),
      make(Op::Remat, {x}, {}, IdArg{{1}}),
      make(Op::Remat, {x}, {}, IdArg{{2}}),
      make(Op::Buffer, {}, f32, BufferArg{{1}}),
      make(Op::Buffer, {}, f32, BufferArg{{2}}),
      make(Op::Buffer, {}, f32, BufferArg{{1}, Space::Shared}),
      make(Op::Copy, {x}, {}, DeviceArg{Symbol("cpu")}),
      make(Op::Copy, {x}, {}, DeviceArg{Symbol("gpu")}),
      make(Op::Detach, {x}),
      make(Op::Contiguous, {x}),
  };
}

TEST(Interner, EqualNodesAreOneAndDifferentNodesAreNot) {
  in_both([] {
    const std::vector<UOp> first = different_nodes(), second = different_nodes();
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_TRUE(first[i].is(second[i])) << i;
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(first[i].is(first[j])) << i << " and " << j;
    }
  });
}

TEST(Interner, UniqueIdsKeepNodesApart) {
  EXPECT_NE(fresh_id(), fresh_id());
  const UniqueId far{fresh_id().value + 1000};
  reserve_id(far);
  EXPECT_GT(fresh_id().value, far.value);
  reserve_id({~std::uint64_t{0} - 1});  // too far to be met: counting goes on where it was
  EXPECT_LT(fresh_id().value, far.value + 10);
  in_both([] { EXPECT_FALSE(Variable("n", 0, 9).is(Variable("n", 0, 9))); });
}

TEST(Interner, GivesLiveNodesDifferentIds) {
  in_both([] {
    const std::vector<UOp> nodes = different_nodes();
    std::set<std::uint32_t> ids;
    for (const UOp& node : nodes) EXPECT_TRUE(ids.insert(node->id()).second);
  });
}

// Its table keeps what has one newest source together as far as there is room.
TEST(Interner, FindsAHundredThousandUsersOfOneNode) {
  in_both([] {
    constexpr int count = 100'000;
    std::vector<UOp> constants, users;
    for (int i = 0; i < count; ++i) constants.push_back(const_int(2'000'000 + i));
    const UOp hub = range(4, 0);
    for (const UOp& constant : constants) users.push_back(hub + constant);
    for (std::size_t i = 0; i < count; i += 2) users[i] = UOp();
    for (std::size_t i = 0; i < count; ++i) {
      const UOp again = hub + constants[i];
      if (i % 2 == 0)
        users[i] = again;
      else
        ASSERT_TRUE(again.is(users[i])) << i;
    }
  });
}

// Against a plain set: what is alive is found, whatever has come and gone between.
TEST(SharedGraph, FindsWhatIsAliveAmongWhatComesAndGoes) {
  std::mt19937 random(7);
  std::map<std::pair<int, int>, UOp> alive;
  const UOp sources[] = {range(2, 0), range(3, 1), range(5, 2), range(7, 3)};
  for (int step = 0; step < 200'000; ++step) {
    const std::pair key(static_cast<int>(random() % 4), static_cast<int>(random() % 500));
    const auto found = alive.find(key);
    if (found != alive.end() && random() % 2 == 0) {
      alive.erase(found);
      continue;
    }
    const UOp node = sources[key.first] * const_int(3'000'000 + key.second);
    if (found == alive.end())
      alive.emplace(key, node);
    else
      ASSERT_TRUE(node.is(found->second)) << step;
  }
}

TEST(Interner, RefusesAWrongNumberOfSources) {
  in_both([] {
    Interner& interner = Interner::current();
    const UOp f = const_float(1.5, dtypes::f32);
    const Node* src[] = {f.node(), f.node(), f.node()};
    EXPECT_EQ(error_of([&] { interner.intern({Op::Sqrt, f32, src}); }),
              "internal error: sqrt with 3 sources");
    EXPECT_EQ(error_of([&] { interner.intern({Op::Add, f32, {}}); }),
              "internal error: add with 0 sources");
  });
}

TEST(Interner, TakesNodesWithAMillionSources) {
  in_both([] {
    const UOp a = const_int(1), b = const_int(2);
    std::vector<UOp> src(1'000'000, a);
    src.back() = b;
    const UOp sink = make(Op::Sink, src, {}, KernelArg{Symbol("wide")});
    ASSERT_EQ(sink->size(), src.size());
    EXPECT_EQ(sink->src(0), a.node());
    EXPECT_EQ(sink->src().back(), b.node());
    EXPECT_EQ(sink->arg<KernelArg>().name, Symbol("wide"));
    EXPECT_TRUE(sink.is(make(Op::Sink, src, {}, KernelArg{Symbol("wide")})));
  });
}

TEST(Interner, RefusesSourcesOfAnother) {
  const UOp shared = const_int(4711);
  Arena arena, other;
  UOp first, far;
  {
    const InternerScope scope(arena);
    first = const_int(0);
    for (int i = 1; i < 10; ++i) far = const_int(i);
    EXPECT_EQ(error_of([&] { -shared; }),
              "internal error: a source of neg is from another interner");
    EXPECT_EQ(arena.size(), 10u);
  }
  EXPECT_EQ(error_of([&] { far + shared; }),
            "internal error: a source of add is from another interner");
  const InternerScope scope(other);
  EXPECT_EQ(error_of([&] { -far; }), "internal error: a source of neg is from another interner");
  const UOp own = const_int(5);  // with the id that `first` has in its arena
  ASSERT_EQ(own->id(), first->id());
  EXPECT_EQ(error_of([&] { own + first; }),
            "internal error: a source of add is from another interner");
  EXPECT_TRUE(other.owns(own.node()));
  EXPECT_FALSE(other.owns(first.node()));
}

// What builds nodes of every kind, with shapes and sets of ranges.
std::vector<UOp> build_much() {
  std::vector<UOp> kept = different_nodes();
  const UOp x = param({4, 6}), r0 = range(4, 0), r1 = range(6, 1), n = Variable("n", 1, 9);
  const UOp turned = make(Op::Permute, {x}, {}, AxesArg{IntList({1, 0})});
  const UOp padded = make(Op::Pad, {turned, sizes({1, 2}), tuple({const_int(0), n})});
  const UOp sum = make(Op::Reduce, {padded}, {}, ReduceArg{Op::Add, IntList({0})});
  const UOp index = (r0 + r1) * (r1 + r0) + n;
  const UOp reduced = make(Op::Reduce, {index, r0}, {}, ReduceArg{});
  for (const UOp& node : {sum, index, reduced, make(Op::End, {tuple({index}), r1, r0})})
    kept.push_back(node);
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    for (const UOp& root : RandomGraph(seed).roots(40)) kept.push_back(root);
  return kept;
}

TEST(SharedGraph, FreesNodesWithTheirLastHandle) {
  const std::size_t before = shared_graph().size();
  {
    const std::vector<UOp> nodes = build_much();
    EXPECT_GT(shared_graph().size(), before + nodes.size());
    std::vector<UOp> copies = nodes, moved = std::move(copies);
    moved[0] = moved[1];
    moved[1] = std::move(moved[2]);
    UOp& self = moved[3];
    self = *&self;
    EXPECT_TRUE(moved[3].is(nodes[3]));
    EXPECT_TRUE(moved[2].is_null());
  }
  EXPECT_EQ(shared_graph().size(), before);
}

TEST(SharedGraph, GivesMemoryBack) {
  {
    build_much();
  }
  const std::size_t before = shared_graph().bytes();
  for (int i = 0; i < 20; ++i) build_much();
  EXPECT_LT(shared_graph().bytes(), before * 3 / 2);
}

TEST(SharedGraph, KeepsNothingOfNodesThatCannotBe) {
  const UOp x = param({4, 6}), y = param({4}), n = Variable("n", 1, 9);
  const std::size_t before = shared_graph().size();
  EXPECT_THROW(x + y, Error);
  EXPECT_THROW(make(Op::Permute, {x}, {}, AxesArg{IntList({0, 0})}), Error);
  // Sizes of the first axis are made before the second is found wrong.
  EXPECT_THROW(make(Op::Pad, {x, tuple({n, n}), sizes({1, -1})}), Error);
  EXPECT_EQ(shared_graph().size(), before);
}

TEST(SharedGraph, HandlesAndParentsKeepNodesAlive) {
  const std::size_t before = shared_graph().size();
  UOp sum;
  {
    const UOp a = range(4, 0), b = range(5, 1);
    sum = a * b + a;
  }
  EXPECT_EQ(expression_text(sum.node()), "r0*r1 + r0");
  EXPECT_EQ(sum->ranges().size(), 2u);
  EXPECT_TRUE(range(4, 0).is(sum.src(1)));  // found again while a parent holds it
  const UOp product = sum.src(0);
  sum = UOp();
  EXPECT_EQ(expression_text(product.node()), "r0*r1");
  EXPECT_EQ(shared_graph().size(), before + 6);  // two sizes, two ranges, their set, the product
}

TEST(SharedGraph, UsesIdsOfDeadNodesAgain) {
  std::uint32_t highest = 0;
  for (int round = 0; round < 2; ++round) {
    std::vector<UOp> nodes;
    std::uint32_t most = 0;
    for (int i = 0; i < 10'000; ++i) {
      nodes.push_back(const_int(1'000'000 + i));
      most = std::max(most, nodes.back()->id());
    }
    if (round > 0) {
      EXPECT_LT(most, highest * 2);
    }
    highest = most;
  }
}

TEST(SharedGraph, HoldsStaticHandlesToTheEnd) {
  // Released after main, when thread-local objects are gone: a sanitizer would tell.
  static UOp handle;
  handle = range(4, 0) * 3 + range(5, 1);
  EXPECT_FALSE(handle.is_null());
}

TEST(Arena, NumbersNodesInOrder) {
  Arena arena;
  const InternerScope scope(arena);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(const_int(i)->id(), i);
  EXPECT_EQ(const_int(7)->id(), 7u);
  EXPECT_EQ(arena.size(), 100u);
  EXPECT_FALSE(const_int(1)->is_counted());
}

TEST(Arena, ResetUsesTheSameMemoryAgain) {
  Arena arena;
  const InternerScope scope(arena);
  const auto build = [] {
    std::vector<const Node*> nodes;
    UOp x = const_int(0);
    for (std::uint64_t i = 0; i < 5'000; ++i) {
      x = x * 3 + range(static_cast<std::int64_t>(i % 7 + 1), i % 5);
      nodes.push_back(x.node());
    }
    return nodes;
  };
  const std::vector<const Node*> first = build();
  const std::size_t size = arena.size(), bytes = arena.bytes();
  const std::uint32_t last = first.back()->id();
  for (int i = 0; i < 3; ++i) {
    arena.reset();
    EXPECT_EQ(arena.size(), 0u);
    EXPECT_LT(arena.bytes(), bytes);
    EXPECT_EQ(build(), first);
    EXPECT_EQ(first.back()->id(), last);
    EXPECT_EQ(arena.size(), size);
    EXPECT_EQ(arena.bytes(), bytes);
  }
}

TEST(Arena, ResetForgetsWhatWas) {
  Arena arena;
  const InternerScope scope(arena);
  arena.annotate(const_int(5).node(), Origin{1});
  arena.reset();
  EXPECT_EQ(const_int(6)->id(), 0u);
  EXPECT_EQ(const_int(5)->id(), 1u);
  EXPECT_EQ(arena.origin(const_int(5).node()), std::nullopt);
}

TEST(InternerScope, NestsAndIsOfOneThread) {
  EXPECT_EQ(&Interner::current(), &shared_graph());
  Arena outer, inner;
  {
    const InternerScope a(outer);
    {
      const InternerScope b(inner);
      EXPECT_EQ(&Interner::current(), &inner);
      std::thread([] { EXPECT_EQ(&Interner::current(), &shared_graph()); }).join();
    }
    EXPECT_EQ(&Interner::current(), &outer);
  }
  EXPECT_EQ(&Interner::current(), &shared_graph());
}

TEST(Origin, IsOutsideIdentityAndSurvivesImport) {
  const auto origin_of = [](const Interner& interner, const UOp& node) {
    const auto origin = interner.origin(node.node());
    return origin ? static_cast<int>(*origin) : -1;
  };
  Arena arena;
  UOp sum;
  {
    const InternerScope scope(arena);
    sum = range(4, 0) + 1;
    arena.annotate(sum.node(), Origin{12});
    EXPECT_TRUE(sum.is(range(4, 0) + 1));
    EXPECT_EQ(origin_of(arena, range(4, 0) + 1), 12);
    EXPECT_EQ(origin_of(arena, sum.src(0)), -1);
    arena.annotate(sum.node(), Origin{13});  // the last one holds
    EXPECT_EQ(origin_of(arena, sum), 13);
  }
  {
    const UOp copy = import_graph(nodes_of({sum}), arena, shared_graph())[0];
    EXPECT_EQ(origin_of(shared_graph(), copy), 13);
  }
  EXPECT_EQ(origin_of(shared_graph(), range(4, 0) + 1), -1);  // it died with its node
}

TEST(Origin, OfWhatIsMadeAgain) {
  const UOp sum = range(4, 0) + 1, other = range(5, 0) + 1;
  shared_graph().annotate(sum.node(), Origin{12});
  Arena arena;
  const InternerScope scope(arena);
  const Node* sources[] = {import_graph(nodes_of({other.src(0)}), shared_graph(), arena)[0].node(),
                           const_int(1).node()};
  const Node* again = with_sources(arena, sum.node(), sources);
  EXPECT_EQ(arena.origin(again), Origin{12}) << "across interners";
  EXPECT_EQ(arena.origin(substitute(UOp(again), {{sources[0], range(6, 0)}}).node()), Origin{12});
  const UOp noted = range(7, 0) + 1;
  arena.annotate(noted.node(), Origin{13});
  arena.inherit(noted.node(), again, arena);
  EXPECT_EQ(arena.origin(noted.node()), Origin{13}) << "it has its own";
  arena.attach(again, std::make_shared<int>(1));
  arena.forget_origins();
  EXPECT_FALSE(again->has_origin());
  EXPECT_EQ(arena.origin(again), std::nullopt);
  EXPECT_NE(arena.attached<int>(again), nullptr);
}

TEST(Attached, GoesWithItsNodeOrWhenReplaced) {
  std::weak_ptr<int> first, second;
  {
    const UOp node = const_int(123457) + Variable("n", 0, 9);
    EXPECT_EQ(shared_graph().attached<int>(node.node()), nullptr);
    const auto one = std::make_shared<int>(1), two = std::make_shared<int>(2);
    first = one;
    second = two;
    shared_graph().attach(node.node(), one);
    shared_graph().annotate(node.node(), Origin{7});
    EXPECT_EQ(shared_graph().attached<int>(node.node()), one);
    shared_graph().attach(node.node(), two);
    EXPECT_EQ(shared_graph().attached<int>(node.node()), two);
    EXPECT_EQ(shared_graph().origin(node.node()), Origin{7});
  }
  EXPECT_TRUE(first.expired());
  EXPECT_TRUE(second.expired());
}

TEST(Attached, IsOneThingOfEachType) {
  const UOp node = const_int(123458) + Variable("n", 0, 9);
  shared_graph().attach(node.node(), std::make_shared<int>(1));
  EXPECT_EQ(shared_graph().attached<UOp>(node.node()), nullptr);
  shared_graph().attach(node.node(), std::make_shared<UOp>(const_int(2)));
  EXPECT_EQ(*shared_graph().attached<int>(node.node()), 1);
  EXPECT_TRUE(shared_graph().attached<UOp>(node.node())->is(const_int(2)));
}

// The note of one node holds the only handle of another that has a note as well.
TEST(Attached, MayHoldNodesItself) {
  std::weak_ptr<UOp> inner;
  {
    const UOp outer = Variable("outer", 0, 9);
    UOp held = Variable("held", 0, 9);
    const auto leaf = std::make_shared<UOp>(Variable("leaf", 0, 9));
    inner = leaf;
    shared_graph().attach(held.node(), leaf);
    shared_graph().attach(outer.node(), std::make_shared<UOp>(std::move(held)));
  }
  EXPECT_TRUE(inner.expired());
}

}  // namespace
}  // namespace weft
