// Gradients of calls: by the body, and by functions of their own.

#include "../support/errors.h"
#include "../support/finite_differences.h"

namespace weft {
namespace {

UOp param(std::int32_t slot, DType dtype = dtypes::f64) {
  return make(Op::Param, constant_sizes({2}), dtype, ParamArg{slot, Access::Read, 0});
}
UOp sin(const UOp& x) { return make(Op::Sin, {x}); }
UOp member(const UOp& list, std::int32_t at) {
  return make(Op::GetTuple, {list}, dtypes::f64, PositionArg{at});
}
CallGradient times(double factor) {
  return [factor](const UOp& g, const UOp&) { return std::vector{g * factor}; };
}
std::size_t calls_in(const UOp& root) {
  std::size_t count = 0;
  for (const Node* node : toposort(root.node())) count += node->op() == Op::Call;
  return count;
}

void expect_right_twice(const UOp& value, const UOp& x, const UOp& y) {
  FiniteDifferences point(1);
  point.set_random(x, 0.5, 2);
  point.set_random(y, 0.5, 2);
  for (const UOp& each : point.check(value)) point.check(each);
  EXPECT_EQ(point.skipped(), 0);
  EXPECT_EQ(point.compared(), 3 * 4);
}

TEST(Call, HasTheShapeOfWhatItReturns) {
  const UOp f = call(tuple({param(0), reshape(param(0), constant_sizes({1, 2}))}), {param(7)});
  EXPECT_EQ(member(f, 1)->dims().size(), 2u);
  EXPECT_EQ(call(param(0), {param(7)})->shape(), param(0)->shape());
}

TEST(Call, IsDifferentiatedAsAFunction) {
  const UOp x = param(7), y = param(8), a = param(0), b = param(1);
  expect_right_twice(call(a * sin(b) * b, {x * y, y}), x, y);
  const UOp g = gradient(call(a * sin(b), {x, y}), {x})[0];
  EXPECT_EQ(calls_in(g), 1u) << "the gradient is a call, and only that";
}

TEST(Call, ComputesOnlyTheGradientsThatAreWanted) {
  const UOp x = param(7), y = param(8), a = param(0), b = param(1);
  const UOp g = gradient(call(make(Op::Pow, {a, b}), {x, y}), {x})[0];
  ASSERT_EQ(g->op(), Op::GetTuple);
  EXPECT_EQ(g.src(0).src(0)->size(), 1u);
}

// A PARAM of the body may be the very node that is an argument, or a PARAM of a body inside.
TEST(Call, KeepsItsParamsApart) {
  const UOp a = param(0), b = param(1);
  const UOp inner = call(sin(a) * b, {b, a});
  expect_right_twice(call(inner * a, {b * b, a}), a, b);
}

TEST(Call, PassesGradientsThroughLists) {
  const UOp x = param(7), y = param(8), a = param(0), b = param(1);
  const UOp f = call(tuple({a * b, sin(b), a}), {x, y});
  expect_right_twice(member(f, 0) * member(f, 1) + member(f, 0), x, y);
  expect_right_twice(member(f, 1) * x, x, y);
}

TEST(Call, UsesAParamOfTwoKindsOnce) {
  const UOp x = param(7), y = param(8);
  const UOp a = param(0);
  const UOp again =
      make(Op::Param, constant_sizes({2}), dtypes::f64, ParamArg{0, Access::ReadWrite, 0});
  expect_right_twice(call(a * again, {x * y}), x, y);
}

TEST(Call, OfAConstantPassesNothing) {
  const UOp x = param(7);
  const UOp g = gradient(call(make(Op::Detach, {param(0)}), {x}), {x})[0];
  EXPECT_EQ(calls_in(g), 0u);
}

TEST(Call, WithAFunctionOfItsOwn) {
  const UOp x = param(7), seed = param(9);
  const UOp straight = call(make(Op::Trunc, {param(0)}), {x}, times(3), "straight");
  EXPECT_TRUE(gradient(straight * x, {x}, seed)[0].is(seed * straight + seed * x * 3.0));
  const UOp other = call(make(Op::Trunc, {param(0)}), {x}, times(5));
  EXPECT_FALSE(other.is(straight));
  EXPECT_TRUE(gradient(other, {x}, seed)[0].is(seed * 5.0));
}

TEST(Call, FunctionsSeeListsAndMayPassNothing) {
  const UOp x = param(7), y = param(8), seed = param(9);
  const UOp f = call(tuple({param(0), param(1)}), {x, y}, [](const UOp& g, const UOp& call) {
    EXPECT_EQ(call->size(), 3u);
    EXPECT_EQ(g->size(), 2u);
    EXPECT_TRUE(g.src(0).is(tuple({})));
    return std::vector{UOp(), g.src(1) * 7.0};
  });
  const auto g = gradient(member(f, 1), {x, y}, seed);
  EXPECT_TRUE(g[1].is(seed * 7.0));
  EXPECT_FALSE(has(g[0]->op(), OpFlag::Commutes));
}

// Checkpointing: what the body computes is computed again for its gradient, from the argument.
TEST(Call, CanComputeAgain) {
  const UOp x = param(7), y = param(8);
  const auto body = [](const UOp& a) { return sin(sin(a) * a); };
  const UOp f = call(body(param(0)), {x * y}, [&](const UOp& g, const UOp& call) {
    const UOp again = make(Op::Remat, {call.src(1)}, {}, IdArg{fresh_id()});
    return gradient(body(again), {again}, g);
  });
  expect_right_twice(f, x, y);
}

TEST(Call, FunctionsGoWithTheirNodes) {
  const auto alive = std::make_shared<int>(0);
  const UOp x = param(7);
  {
    const UOp f = call(param(0), {x}, [alive](const UOp& g, const UOp&) { return std::vector{g}; });
    EXPECT_EQ(alive.use_count(), 2);
    gradient(f, {x});
    shared_graph().attach(f.node(), std::make_shared<UOp>(x));
    EXPECT_EQ(alive.use_count(), 2) << "other things may hang on the call as well";
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(Call, CopiesFindTheFunction) {
  const UOp x = param(7), y = param(8), seed = param(9);
  UOp f = call(param(0), {x}, times(3));
  const UOp copy = substitute(f, {{x.node(), y}});
  EXPECT_TRUE(gradient(copy, {y}, seed)[0].is(seed * 3.0));
  f = UOp();
  EXPECT_TRUE(gradient(copy, {y}, seed)[0].is(seed * 3.0)) << "it hangs on the copy now";

  Arena arena;
  const auto inside = import_graph(nodes_of(std::vector{copy, y, seed}), shared_graph(), arena);
  const InternerScope scope(arena);
  EXPECT_TRUE(gradient(inside[0], {inside[1]}, inside[2])[0].is(inside[2] * 3.0));
}

TEST(Call, SaysWhenTheFunctionIsGone) {
  const UOp x = param(7), y = param(8);
  UOp f = call(param(0), {x}, times(3));
  const UOp copy = substitute(f, {{x.node(), y}});
  f = UOp();
  EXPECT_NE(error_of([&] { return gradient(copy, {y}); }).find("went with the call"),
            std::string::npos);
}

TEST(Call, ChecksWhatFunctionsGive) {
  const UOp x = param(7);
  const auto error_for = [&](const std::vector<UOp>& gradients) {
    const UOp f = call(param(0), {x}, [&](const UOp&, const UOp&) { return gradients; });
    const std::string error = error_of([&] { return gradient(f, {x}); });
    return error.substr(error.find(" gave "));
  };
  EXPECT_EQ(error_for({}), " gave 0 gradients for 1 arguments");
  EXPECT_EQ(error_for({param(1, dtypes::f32)}),
            " gave for argument 0 not one of its dtype f64 and shape");
  EXPECT_EQ(error_for({reshape(x, constant_sizes({2, 1}))}),
            " gave for argument 0 not one of its dtype f64 and shape");
}

TEST(Call, WithoutAnArgumentForAParam) {
  const UOp x = param(7);
  EXPECT_NE(error_of([&] {
              return gradient(call(param(0) * param(1), {x}), {x});
            }).find("no value for p1"),
            std::string::npos);
}

}  // namespace
}  // namespace weft
