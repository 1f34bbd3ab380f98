// The walk: what it reaches, what it leaves out, and what that costs.

#include <weft/dev/grad/gradient.h>

#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

#include "../support/eager.h"
#include "../support/errors.h"
#include "../support/nodes.h"

namespace weft {
namespace {

UOp param(std::int32_t slot, DType dtype = dtypes::f32) {
  return make(Op::Param, constant_sizes({2}), dtype, ParamArg{slot, Access::Read, 0});
}
UOp unary(Op op, const UOp& x) { return make(op, {x}); }
bool has_op(const UOp& root, Op op) {
  return std::ranges::any_of(toposort(root.node()),
                             [&](const Node* node) { return node->op() == op; });
}

TEST(Gradient, OfTheLossItselfIsTheSeed) {
  const UOp x = param(1), seed = param(2);
  EXPECT_TRUE(gradient(x, {x}, seed)[0].is(seed));
  EXPECT_EQ(gradient(x, {x})[0]->shape(), x->shape());
}

TEST(Gradient, OfWhatTheLossDoesNotNeedIsZero) {
  const UOp x = param(1), y = param(2);
  const UOp zero = gradient(-x, {y})[0];
  EXPECT_EQ(zero->shape(), y->shape());
  Eager eager;
  EXPECT_EQ(eager(zero.node()).values, (std::vector<Bits>{0, 0}));
}

TEST(Gradient, OfInnerNodesAndOfSeveralAtOnce) {
  const UOp x = param(1), seed = param(2);
  const UOp inner = -x, loss = inner * inner;
  const auto g = gradient(loss, {inner, x, inner}, seed);
  const UOp expected = seed * inner + seed * inner;
  EXPECT_TRUE(g[0].is(expected));
  EXPECT_TRUE(g[1].is(-expected));
  EXPECT_TRUE(g[2].is(expected));
}

// One gradient goes on where several came together.
TEST(Gradient, AddsUpBeforeItGoesOn) {
  const UOp x = param(1), seed = param(2);
  const UOp shared = unary(Op::Sin, x);
  const UOp g = gradient(shared * param(3) + shared * param(4), {x}, seed)[0];
  std::size_t cosines = 0;
  for (const Node* node : toposort(g.node())) cosines += node->op() == Op::Cos;
  EXPECT_EQ(cosines, 1u);
}

TEST(Gradient, StopsAtDetach) {
  const UOp x = param(1), seed = param(2);
  EXPECT_TRUE(gradient(x * unary(Op::Detach, x), {x}, seed)[0].is(seed * unary(Op::Detach, x)));
  EXPECT_TRUE(gradient(unary(Op::Detach, x), {x})[0].is(
      expand(reshape(const_int(0, dtypes::f32), constant_sizes({1})), constant_sizes({2}))));
}

TEST(Gradient, ComputesNothingOffThePath) {
  const UOp x = param(1), y = param(2), seed = param(3);
  const UOp side = unary(Op::Exp2, unary(Op::Sin, y));
  const UOp g = gradient(x * side, {x}, seed)[0];
  EXPECT_TRUE(g.is(seed * side));
  // d/dy of x^y would have a logarithm.
  EXPECT_FALSE(has_op(gradient(make(Op::Pow, {x, y}), {x})[0], Op::Log2));
  // What cannot be differentiated may stand where no gradient goes.
  const UOp odd = bitcast(cast(y, dtypes::f16), dtypes::bf16);
  EXPECT_TRUE(gradient(x * cast(odd, dtypes::f32), {x}, seed)[0].is(seed * cast(odd, dtypes::f32)));
}

TEST(Gradient, LeavesNothingBehind) {
  const std::size_t before = shared_graph().size();
  {
    const UOp x = param(1);
    gradient(make(Op::Pow, {x, unary(Op::Sin, x)}), {x});
    EXPECT_LT(shared_graph().size(), before + 10);
  }
  EXPECT_EQ(shared_graph().size(), before);
}

TEST(Gradient, HasTheDtypeOfTheTarget) {
  const UOp x = param(1, dtypes::f16), seed = param(2);
  const UOp wide = cast(x, dtypes::f32);
  const UOp g = gradient(wide * wide, {x, wide}, seed)[0];
  EXPECT_EQ(g->dtype(), dtypes::f16);
  EXPECT_TRUE(g.is(cast(seed * wide + seed * wide, dtypes::f16)));
}

TEST(Gradient, IntegersPassNone) {
  const UOp x = param(1), seed = param(2);
  const UOp whole = cast(cast(x, dtypes::i32), dtypes::f32);
  EXPECT_TRUE(gradient(x * whole, {x}, seed)[0].is(seed * whole));
}

// The PARAM of a call's body may be the very node that is a target. This call could not be
// differentiated.
TEST(Gradient, DoesNotLookIntoCalls) {
  const UOp x = param(0), seed = param(2);
  const UOp odd = bitcast(cast(x, dtypes::f16), dtypes::bf16);
  const UOp called = call(cast(odd, dtypes::f32), {param(1)});
  EXPECT_TRUE(gradient(x * called, {x}, seed)[0].is(seed * called));
}

TEST(Gradient, RefusesWhatIsNoFloat) {
  const UOp x = param(1), n = param(2, dtypes::i32);
  EXPECT_EQ(error_of([&] { return gradient(n, {x}); }),
            "gradient: the loss is i32, and only floats have gradients");
  EXPECT_EQ(error_of([&] { return gradient(x, {n}); }),
            "gradient: the target is i32, and only floats have gradients");
}

TEST(Gradient, RefusesASeedThatDoesNotFit) {
  const UOp x = param(1);
  EXPECT_EQ(error_of([&] { return gradient(x, {x}, param(2, dtypes::f16)); }),
            "gradient: the seed p2 of f16 does not have the loss's dtype f32 and shape");
  const UOp row = make(Op::Param, constant_sizes({3}), dtypes::f32, ParamArg{2, Access::Read, 0});
  EXPECT_NE(error_of([&] { return gradient(x, {x}, row); }), "no error");
}

UOp chain(int length) {
  const UOp a = param(1);
  UOp x = a;
  for (int i = 0; i < length; ++i) x = i % 2 == 0 ? x * a : unary(Op::Sin, x);
  return x;
}

std::size_t nodes_for(int length) {
  return toposort(gradient(chain(length), {param(1)})[0].node()).size();
}

TEST(Gradient, OfADeepGraphIsTenTimesThatOfATenth) {
  const std::size_t before = shared_graph().size();
  const std::size_t one = nodes_for(20'000), ten = nodes_for(200'000);
  EXPECT_GT(one, 20'000U);
  EXPECT_LT(ten, 11 * one);
  EXPECT_EQ(shared_graph().size(), before);
}

// Every member of a long list is read, and every one has a gradient: no list is made for each.
TEST(Gradient, OfAWideListIsTenTimesThatOfATenth) {
  const auto bytes = [](int members) {
    Arena arena;
    const InternerScope scope(arena);
    std::vector<UOp> inputs;
    for (int i = 0; i < members; ++i) inputs.push_back(param(i));
    const UOp list = make(Op::Remat, {tuple(inputs)}, {}, IdArg{fresh_id()});
    UOp sum = const_int(0, dtypes::f32);
    for (int i = 0; i < members; ++i)
      sum = sum + make(Op::GetTuple, {list}, dtypes::f32, PositionArg{i});
    EXPECT_EQ(gradient(sum, inputs).size(), inputs.size());
    return arena.bytes();
  };
  EXPECT_LT(bytes(100'000), 20 * bytes(10'000));
}

}  // namespace
}  // namespace weft
