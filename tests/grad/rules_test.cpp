// Every rule against finite differences, once and twice, and by hand where there are none.

#include <functional>
#include <limits>
#include <set>

#include "../support/errors.h"
#include "../support/finite_differences.h"

namespace weft {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

UOp param(std::int32_t slot, const std::vector<std::int64_t>& sizes, DType dtype = dtypes::f64) {
  return make(Op::Param, constant_sizes(sizes), dtype, ParamArg{slot, Access::Read, 0});
}
UOp unary(Op op, const UOp& x) { return make(op, {x}); }
UOp reduced(Op op, const UOp& x, const Axes& axes) { return reduce(op, x, axes); }
UOp indexed(const UOp& storage, const UOp& valid, const std::vector<UOp>& indices) {
  std::vector<UOp> src{storage, valid};
  src.insert(src.end(), indices.begin(), indices.end());
  return make(Op::Index, src);
}

// The gradients at the values, by the eager evaluator; the seed is 1.
std::vector<std::vector<double>> at(const UOp& loss, const std::vector<UOp>& inputs,
                                    const std::vector<std::vector<double>>& values) {
  Eager eager;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    eager.set(inputs[i], array_of(inputs[i], values[i]));
  std::vector<std::vector<double>> results;
  const std::vector<UOp> gradients = gradient(loss, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    results.push_back(doubles(eager(gradients[i].node()), inputs[i]->dtype()));
  return results;
}

using Values = std::vector<std::vector<double>>;

// x and y have shape (2, 3), s is a scalar; all between 0.3 and 2.
struct Case {
  const char* name;
  std::function<UOp(const UOp& x, const UOp& y, const UOp& s)> build;
};

// clang-format off
const Case cases[] = {
  {"neg",         [](auto x, auto, auto)   { return -x; }},
  {"recip",       [](auto x, auto, auto)   { return unary(Op::Recip, x); }},
  {"sqrt",        [](auto x, auto, auto)   { return unary(Op::Sqrt, x); }},
  {"exp2",        [](auto x, auto, auto)   { return unary(Op::Exp2, x); }},
  {"log2",        [](auto x, auto, auto)   { return unary(Op::Log2, x); }},
  {"sin",         [](auto x, auto, auto)   { return unary(Op::Sin, x * 3); }},
  {"cos",         [](auto x, auto, auto)   { return unary(Op::Cos, x * 3); }},
  {"trunc",       [](auto x, auto, auto)   { return x * unary(Op::Trunc, x); }},
  {"detach",      [](auto x, auto y, auto) { return x + unary(Op::Detach, y - y); }},
  {"cast",        [](auto x, auto, auto)   { return cast(cast(x, dtypes::f64), dtypes::f64) * x; }},
  {"contiguous",  [](auto x, auto, auto)   { return unary(Op::Contiguous, x) * x; }},
  {"remat",       [](auto x, auto, auto)   { return make(Op::Remat, {x}, {}, IdArg{fresh_id()}) * x; }},
  {"copy",        [](auto x, auto, auto)   { return make(Op::Copy, {x}, {}, DeviceArg{Symbol("d")}) * x; }},
  {"shard",       [](auto x, auto, auto)   { return make(Op::Shard, {x}, {}, ShardArg{0, Symbol("d,e")}) * x; }},
  {"add",         [](auto x, auto y, auto) { return x + y; }},
  {"sub",         [](auto x, auto y, auto) { return x - y; }},
  {"mul",         [](auto x, auto y, auto) { return x * y; }},
  {"div",         [](auto x, auto y, auto) { return x / y; }},
  {"mod",         [](auto x, auto y, auto) { return (x * 5) % y; }},
  {"pow",         [](auto x, auto y, auto) { return make(Op::Pow, {x, y}); }},
  {"max",         [](auto x, auto y, auto) { return max(x, y); }},
  {"where",       [](auto x, auto y, auto) { return where(x < y, x * x, y * x); }},
  {"mulacc",      [](auto x, auto y, auto) { return make(Op::MulAcc, {x, y, x}); }},
  {"with itself", [](auto x, auto, auto)   { return x * x / (x + x); }},
  {"scalar",      [](auto x, auto, auto s) { return x * s + s; }},
  {"scalar only", [](auto, auto, auto s)   { return s * s; }},
  {"sum",         [](auto x, auto y, auto) { return reduced(Op::Add, x * y, {0}); }},
  {"sum of all",  [](auto x, auto y, auto) { return reshape(reduced(Op::Add, x * y, {0, 1}), {}); }},
  {"maximum",     [](auto x, auto y, auto) { return reduced(Op::Max, x * y, {1}); }},
  {"product",     [](auto x, auto y, auto) { return reduced(Op::Mul, x * y, {1}); }},
  {"of all",      [](auto x, auto y, auto) { return reduced(Op::Mul, x * y, {1, 0}); }},
  {"reshape",     [](auto x, auto, auto)   { return reshape(x, constant_sizes({3, 2})) * 2; }},
  {"of a scalar", [](auto x, auto, auto s) { return reshape(s, constant_sizes({1, 1})) * reshape(reduced(Op::Add, x, {0, 1}), {}); }},
  {"permute",     [](auto x, auto y, auto) { return permute(reshape(x, constant_sizes({1, 2, 3})), {2, 0, 1}) * reshape(y, constant_sizes({3, 1, 2})); }},
  {"expand",      [](auto x, auto, auto)   { return expand(reshape(x, constant_sizes({2, 1, 3})), constant_sizes({2, 4, 3})); }},
  {"pad",         [](auto x, auto, auto)   { return pad(x * x, constant_sizes({1, 0}), constant_sizes({0, 2})); }},
  {"shrink",      [](auto x, auto, auto)   { return shrink(x * x, constant_sizes({1, 0}), constant_sizes({1, 2})); }},
  {"flip",        [](auto x, auto y, auto) { return flip(x, {1}) * y; }},
  {"tuple",       [](auto x, auto y, auto) {
     const UOp both = tuple({x * y, y});
     const UOp first = make(Op::GetTuple, {both}, dtypes::f64, PositionArg{0});
     return first * first + make(Op::GetTuple, {both}, dtypes::f64, PositionArg{1});
   }},
};
// clang-format on

TEST(GradientRules, AgreeWithFiniteDifferencesTwice) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const UOp x = param(1, {2, 3}), y = param(2, {2, 3}), s = param(3, {});
    FiniteDifferences point(1);
    for (const UOp& input : {x, y, s}) point.set_random(input, 0.3, 2);
    const std::vector<UOp> first = point.check(c.build(x, y, s));
    for (const UOp& each : first) point.check(each);
    EXPECT_EQ(point.skipped(), 0);
    EXPECT_EQ(point.compared(), 4 * (6 + 6 + 1));
  }
}

TEST(GradientRules, PartsOfATieAreEqual) {
  const UOp x = param(1, {4}), y = param(2, {4});
  EXPECT_EQ(at(max(x, y), {x, y}, {{1, 2, 3, 0}, {1, 1, 4, -0.0}}),
            (Values{{0.5, 1, 0, 0.5}, {0.5, 0, 1, 0.5}}));
  EXPECT_EQ(at(max(x, x), {x}, {{1, 2, 3, 4}}), (Values{{1, 1, 1, 1}}));
  EXPECT_EQ(at(reduced(Op::Max, x, {0}), {x}, {{5, 1, 5, 5}}),
            (Values{{1. / 3, 0, 1. / 3, 1. / 3}}));
  const double nan = std::nan("");
  EXPECT_EQ(at(max(x, y), {x, y}, {{nan, 1, nan, 0}, {1, nan, nan, 1}}),
            (Values{{1, 1, 1, 0}, {1, 1, 1, 1}}));
  EXPECT_EQ(at(reduced(Op::Max, x, {0}), {x}, {{nan, 1, nan, 0}}),
            (Values{{0.25, 0.25, 0.25, 0.25}}));
}

// In f16, 2048 + 1 is 2048, and 70000 infinite.
TEST(GradientRules, SumsOfFewBitsGoOn) {
  constexpr std::int64_t many = 70000;
  const auto ones = [](std::size_t count) { return std::vector<double>(count, 1); };
  const UOp x = param(1, {1}, dtypes::f16), s = param(2, {}, dtypes::f16);
  const UOp y = param(3, {4096}, dtypes::f16), z = param(4, {many}, dtypes::f16);
  EXPECT_EQ(at(expand(x, constant_sizes({4096})), {x}, {{1}}), (Values{{4096}}));
  EXPECT_EQ(at(s * y, {s, y}, {{1}, ones(4096)})[0], (std::vector<double>{4096}));
  EXPECT_EQ(at(reduced(Op::Max, z, {0}), {z}, {ones(many)})[0],
            std::vector<double>(many, 0x1.e0p-17));  // 1/70000 in f16
}

TEST(GradientRules, ProductsKnowZeros) {
  const UOp x = param(1, {5});
  const UOp product = reduced(Op::Mul, x, {0});
  EXPECT_EQ(at(product, {x}, {{2, 3, 5, 7, 11}}), (Values{{1155, 770, 462, 330, 210}}));
  EXPECT_EQ(at(product, {x}, {{2, 0, 5, 7, 11}}), (Values{{0, 770, 0, 0, 0}}));
  EXPECT_EQ(at(product, {x}, {{2, 0, 5, 0, 11}}), (Values{{0, 0, 0, 0, 0}}));
  EXPECT_EQ(at(product, {x}, {{1e200, 1e-200, 1e-200, 1e200, 3}})[0][4], 1);

  // d2/dxi dxj is the product of the other three.
  const UOp first = gradient(product, {x})[0];
  const UOp second = shrink(first, constant_sizes({1}), constant_sizes({1}));
  EXPECT_EQ(at(second, {x}, {{2, 0, 5, 7, 11}}), (Values{{385, 0, 154, 110, 70}}));
  EXPECT_EQ(at(second, {x}, {{2, 0, 0, 7, 11}}), (Values{{0, 0, 154, 0, 0}}));
}

TEST(GradientRules, ProductsOfEveryLength) {
  for (std::int64_t n = 0; n < 10; ++n) {
    const UOp x = param(1, {2, n, 2});
    FiniteDifferences point(1);
    point.set_random(x, -2, 2);
    point.check(point.check(reduced(Op::Mul, x, {1}))[0]);
    EXPECT_EQ(point.compared(), 8 * n);
  }
}

TEST(GradientRules, SymbolicSizes) {
  const UOp n = Variable("n", 1, 6);
  const UOp x = make(Op::Param, {n}, dtypes::f64, ParamArg{1, Access::Read, 0});
  Eager eager;
  eager.set(n, {{}, {3}});
  eager.set(x, {{3}, array_of(param(0, {3}), {2, 3, 5}).values});
  const auto value = [&](const UOp& loss) {
    const UOp g = gradient(loss, {x})[0];
    EXPECT_EQ(g->shape(), x->shape());
    return doubles(eager(g.node()));
  };
  const UOp part = shrink(x, {const_int(1)}, {const_int(1)});
  EXPECT_EQ(value(reduced(Op::Mul, x, {0})), (std::vector<double>{15, 10, 6}));
  EXPECT_EQ(value(part * part), (std::vector<double>{0, 6, 0}));
  EXPECT_EQ(value(pad(x * x, {n}, {const_int(1)})), (std::vector<double>{4, 6, 10}));

  // An axis of size n that becomes one of size m has size m or 1.
  const UOp m = Variable("m", 1, 6);
  const UOp wide = expand(x, {m});
  eager.set(m, {{}, {3}});
  EXPECT_EQ(value(wide * wide), (std::vector<double>{4, 6, 10}));
  Eager one;
  one.set(n, {{}, {1}});
  one.set(m, {{}, {4}});
  one.set(x, {{1}, array_of(param(0, {1}), {2}).values});
  EXPECT_EQ(doubles(one(gradient(wide * wide, {x})[0].node())), (std::vector<double>{16}));
}

TEST(GradientRules, PowAtItsEdges) {
  const UOp a = param(1, {6}), b = param(2, {6});
  const Values got = at(make(Op::Pow, {a, b}), {a, b}, {{0, 0, 0, -2, 0, 3}, {2, 1, 0, 3, 0.5, 0}});
  EXPECT_EQ(got[0], (std::vector<double>{0, 1, 0, 12, inf, 0}));
  EXPECT_EQ((std::vector<double>(got[1].begin(), got[1].begin() + 3)),
            (std::vector<double>{0, 0, 0}));
  EXPECT_TRUE(std::isnan(got[1][3]));
  EXPECT_EQ(got[1][4], 0);
  EXPECT_DOUBLE_EQ(got[1][5], std::log(3.0));

  // x^2 at 0, again and again.
  const UOp x = param(3, {});
  UOp y = make(Op::Pow, {x, const_float(2, dtypes::f64)});
  for (double expected : {0., 2., 0., 0.}) {
    y = gradient(y, {x})[0];
    Eager eager;
    eager.set(x, array_of(x, {0}));
    EXPECT_EQ(doubles(eager(y.node())), (std::vector<double>{expected}));
  }
}

// 0.1 is a little more than a tenth, so it is in 0.9 only 8 times; 0.9/0.1 rounds to 9.
TEST(GradientRules, ModCountsWithoutRounding) {
  const UOp a = param(1, {1}), b = param(2, {1});
  EXPECT_NEAR(at(a % b, {a, b}, {{0.9}, {0.1}})[1][0], -8, 1e-12);
}

TEST(GradientRules, InfiniteAtZero) {
  const UOp x = param(1, {2});
  EXPECT_EQ(at(unary(Op::Sqrt, x), {x}, {{0, 4}}), (Values{{inf, 0.25}}));
  EXPECT_EQ(at(unary(Op::Log2, x), {x}, {{0, 1}})[0][0], inf);
}

// The nearest f64 to pi*2^40, where adding pi/2 to it would round.
TEST(GradientRules, CosineOfWhatIsLarge) {
  const UOp x = param(1, {2});
  const double large = 3454217652358.0;
  const auto got = at(unary(Op::Sin, x), {x}, {{large, 1e-9}})[0];
  EXPECT_NEAR(got[0], std::cos(large), 1e-15);
  EXPECT_DOUBLE_EQ(got[1], std::cos(1e-9));
}

TEST(GradientRules, GathersAddUpWhatIsReadTwice) {
  const UOp table = param(1, {3, 2}), row = param(2, {5}, dtypes::i32);
  const UOp column = const_int(1, dtypes::i32);
  const UOp valid = (row >= 0) & (row < const_int(3, dtypes::i32));
  const UOp place = indexed(table, valid, {row, column});
  Array rows{{5}, {}};
  for (std::int64_t r : {2, 0, -1, 2, 7}) rows.values.push_back(static_cast<Bits>(r));
  Eager eager;
  eager.set(row, rows);
  eager.set(table, array_of(table, {1, 2, 3, 4, 5, 6}));
  const UOp other = param(3, {5});
  eager.set(other, array_of(other, {1, 1, 1, 1, 1}));
  const UOp read = make(Op::Load, {place, other});
  const auto g = gradient(read, {table, other});
  verify(nodes_of(g), Level::Tensor, "gradient");
  EXPECT_EQ(doubles(eager(g[0].node())), (std::vector<double>{0, 1, 0, 0, 0, 2}));
  EXPECT_EQ(doubles(eager(g[1].node())), (std::vector<double>{0, 0, 1, 0, 1}));

  FiniteDifferences point(1);
  point.set_random(table, -1, 1);
  point.set_random(other, -1, 1);
  point.set_constant(row, rows);
  for (const UOp& each : point.check(read * read)) point.check(each * each);
  EXPECT_EQ(point.skipped(), 0);
  EXPECT_EQ(point.compared(), 3 * 11);
}

// Equal gathers, whose gradients must not land in one memory.
TEST(GradientRules, EachScatterHasItsOwnMemory) {
  const UOp table = param(1, {3}), at = param(2, {2}, dtypes::i32);
  const UOp read = make(Op::Load, {indexed(table, const_bool(true), {at})});
  const UOp g = gradient(read, {table})[0], h = gradient(read * 2, {table})[0];
  std::set<const Node*> storages;
  for (const Node* node : toposort(nodes_of(std::vector{g, h})))
    if (node->op() == Op::Contiguous) storages.insert(node);
  EXPECT_EQ(storages.size(), 2u);
}

TEST(GradientRules, StoresPassWhatTheyPut) {
  for (const bool combine : {false, true}) {
    SCOPED_TRACE(combine);
    const UOp x = param(1, {4}), v = param(2, {2}), at = param(3, {2}, dtypes::i32);
    const UOp memory = make(Op::Contiguous, {x * x});
    const UOp put = make(Op::Store, {indexed(memory, const_bool(true), {at}), v * v}, {},
                         StoreArg{combine, Op::Add});
    const UOp after = make(Op::After, {memory, put});
    FiniteDifferences point(1);
    point.set_random(x, 1, 2);
    point.set_random(v, 1, 2);
    point.set_constant(at, {{2}, {3, 1}});
    for (const UOp& each : point.check(after * after)) point.check(each);
    EXPECT_EQ(point.skipped(), 0);
    EXPECT_EQ(point.compared(), 3 * 6);
  }
}

TEST(GradientRules, StoresIntoViewsPassWhatTheyPut) {
  for (const bool combine : {false, true}) {
    SCOPED_TRACE(combine);
    const UOp x = param(1, {4}), v = param(2, {2});
    const UOp memory = make(Op::Contiguous, {x * x});
    const UOp view = flip(shrink(memory, constant_sizes({1}), constant_sizes({2})), {0});
    const UOp put = make(Op::Store, {view, v * v}, {}, StoreArg{combine, Op::Add});
    const UOp after = make(Op::After, {memory, put});
    FiniteDifferences point(1);
    point.set_random(x, 1, 2);
    point.set_random(v, 1, 2);
    for (const UOp& each : point.check(after * after)) point.check(each);
    EXPECT_EQ(point.skipped(), 0);
    EXPECT_EQ(point.compared(), 3 * 6);
  }
}

// Of what is replaced as a whole nothing is left, and there is nothing to mark.
TEST(GradientRules, WholeStoresLeaveNothing) {
  const UOp x = param(1, {4}), v = param(2, {4});
  const UOp memory = make(Op::Contiguous, {x * x});
  const UOp put = make(Op::Store, {memory, v * v}, {}, StoreArg{});
  const std::vector<UOp> gradients = gradient(make(Op::After, {memory, put}), {x, v});
  EXPECT_EQ(at(make(Op::After, {memory, put}), {x, v}, {{1, 2, 3, 4}, {5, 6, 7, 8}}),
            (Values{{0, 0, 0, 0}, {10, 12, 14, 16}}));
  for (const Node* node : toposort(nodes_of(gradients))) EXPECT_NE(node->op(), Op::Store);
}

// A store elsewhere says when, and not what.
TEST(GradientRules, AfterAnotherBufferNothingChanges) {
  const UOp x = param(1, {2}), y = param(2, {2});
  const UOp mine = make(Op::Contiguous, {x}), other = make(Op::Contiguous, {y});
  const UOp put =
      make(Op::Store, {indexed(other, const_bool(true), {const_int(0)}), const_int(1, dtypes::f64)},
           {}, StoreArg{});
  EXPECT_EQ(at(make(Op::After, {mine, put}) * 3, {x, y}, {{1, 2}, {3, 4}}),
            (Values{{3, 3}, {0, 0}}));
}

TEST(GradientRules, CopiesGoBack) {
  const Symbol cpu("CPU"), gpu("GPU");
  const auto buffer = [&](Symbol device) {
    return make(Op::Buffer, constant_sizes({2}), dtypes::f32,
                BufferArg{fresh_id(), Space::Global, 0, 0, device});
  };
  const auto copied = [](const UOp& x, Symbol to) {
    return make(Op::Copy, {x}, {}, DeviceArg{to});
  };
  const UOp x = buffer(cpu), seed = buffer(gpu);
  EXPECT_TRUE(gradient(copied(-x, gpu), {x}, seed)[0].is(-copied(seed, cpu)));
  EXPECT_TRUE(
      gradient(copied(copied(x, gpu), cpu), {x}, seed)[0].is(copied(copied(seed, gpu), cpu)));

  const UOp split = make(Op::Shard, {x}, {}, ShardArg{0, Symbol("GPU,GPU:1")});
  EXPECT_TRUE(gradient(split, {x}, seed)[0].is(copied(seed, cpu)));
  EXPECT_TRUE(gradient(copied(-split, cpu), {split}, seed)[0].is(
      -make(Op::Shard, {seed}, {}, ShardArg{0, Symbol("GPU,GPU:1")})));
  const UOp all = make(Op::AllReduce, {split}, {}, ReduceArg{Op::Add, {}});
  EXPECT_TRUE(gradient(all, {split}, seed)[0].is(seed));
}

TEST(GradientRules, PartsGetTheirs) {
  const auto buffer = [&](std::int64_t size, const char* device) {
    return make(Op::Buffer, constant_sizes({size}), dtypes::f32,
                BufferArg{fresh_id(), Space::Global, 0, 0, Symbol(device)});
  };
  const auto copied = [](const UOp& x, const char* to) {
    return make(Op::Copy, {x}, {}, DeviceArg{Symbol(to)});
  };
  const auto part = [](const UOp& x, std::int64_t start, std::int64_t size) {
    return shrink(x, constant_sizes({start}), constant_sizes({size}));
  };
  const UOp a = buffer(2, "A"), b = buffer(3, "B"), seed = buffer(5, "C");
  const UOp joined = make(Op::Multi, {a, b}, {}, ShardArg{0, Symbol("A,B")});
  const std::vector<UOp> gradients = gradient(joined, {a, b}, seed);
  EXPECT_TRUE(gradients[0].is(copied(part(seed, 0, 2), "A")));
  EXPECT_TRUE(gradients[1].is(copied(part(seed, 2, 3), "B")));
  // What comes to one device goes back in parts.
  EXPECT_TRUE(gradient(copied(-joined, "C"), {joined}, seed)[0].is(
      -make(Op::Shard, {seed}, {}, ShardArg{0, Symbol("A,B")})));
  // Of equal parts one is the tensor.
  const UOp c = buffer(2, "B"), both = make(Op::Multi, {a, c}, {}, ShardArg{-1, Symbol("A,B")});
  const UOp whole = buffer(2, "C");
  EXPECT_TRUE(gradient(both, {a}, whole)[0].is(copied(whole, "A")));
  EXPECT_TRUE(gradient(both, {c}, whole)[0].is(copied(whole, "B")));
}

TEST(GradientRules, RefuseWhatHasNone) {
  const UOp x = param(1, {2}, dtypes::f16);
  EXPECT_EQ(error_of([&] { return gradient(bitcast(x, dtypes::bf16), {x}); }),
            "gradient: bitcast has none, in bitcast<bf16>(p1); DETACH it to take it as constant");
  const UOp all = make(Op::AllReduce, {x}, {}, ReduceArg{Op::Max, {}});
  EXPECT_EQ(error_of([&] { return gradient(all, {x}); }),
            "gradient: allreduce by max has none, only by add");
  const UOp memory = make(Op::Contiguous, {x});
  const UOp put = make(Op::Store,
                       {indexed(memory, const_bool(true), {const_int(0)}),
                        reshape(shrink(x, {const_int(0)}, {const_int(1)}), {})},
                       {}, StoreArg{true, Op::Mul});
  EXPECT_EQ(error_of([&] { return gradient(make(Op::After, {memory, put}), {x}); }),
            "gradient: a store that combines by mul has none, only by add");
}

}  // namespace
}  // namespace weft
