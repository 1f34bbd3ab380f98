// Operators with arguments that a file should not have, and those whose results are random.

#include <limits>

#include "../tensor/tensor_test.h"
#include "one_node.h"

namespace weft::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

Tensor run(const OneNode& node, const std::vector<Value>& inputs) {
  return node(inputs).at(0).tensor();
}

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(OnnxNodes, BoundsOfSlicesMayBeFarOutside) {
  const Tensor x({0, 1, 2, 3}, {.dtype = dtypes::f32});
  const auto part = [&](std::int64_t start, std::int64_t stop, std::int64_t step) {
    const Tensor axis(Ints{0});
    return run({"Slice", 13},
               {x, Tensor(Ints{start}), Tensor(Ints{stop}), axis, Tensor(Ints{step})});
  };
  EXPECT_TRUE(holds<float>(part(least, most, 1), {0, 1, 2, 3}, {4}));
  EXPECT_TRUE(holds<float>(part(most, least, -1), {3, 2, 1, 0}, {4}));
  EXPECT_TRUE(holds<float>(part(most, least, least), {3}, {1}));
  EXPECT_TRUE(holds<float>(part(-3, most, 2), {1, 3}, {2}));
  EXPECT_TRUE(holds<float>(part(3, 1, 1), {}, {0}));
  EXPECT_TRUE(holds<float>(part(-9, least, -1), {0}, {1}));  // from the first element, not before
  EXPECT_TRUE(holds<float>(part(-9, 0, -1), {}, {0}));
  EXPECT_THROW(part(0, 4, 0), Error);
}

TEST(OnnxNodes, WindowsThatAreRoundedUpMayReachOverAShortAxis) {
  const auto pool = [](const char* op, std::int64_t kernel, std::int64_t stride, const Tensor& x) {
    return run(
        {op, 18, {{"kernel_shape", Ints{kernel}}, {"strides", Ints{stride}}, {"ceil_mode", 1}}},
        {x.reshape({1, 1, x.numel()})});
  };
  EXPECT_TRUE(holds<float>(pool("MaxPool", 2, 3, Tensor({3.F})), {3}, {1, 1, 1}));
  EXPECT_TRUE(holds<float>(pool("AveragePool", 3, 2, Tensor({3.F, 5.F})), {4}, {1, 1, 1}));
  // One window that begins inside, not two.
  EXPECT_TRUE(holds<float>(pool("MaxPool", 5, 2, Tensor({1.F, 4.F, 2.F, 3.F})), {4}, {1, 1, 1}));
  EXPECT_THROW(pool("MaxPool", 4, 3, Tensor({3.F})), Error);
}

TEST(OnnxNodes, WhatIsNoAxisIsRefused) {
  const Tensor x = Tensor::zeros({2, 3});
  const Value axis = Tensor(Ints{2}), far = Tensor(Ints{least});
  EXPECT_THROW(run({"ReduceSum", 13}, {x, axis}), Error);
  EXPECT_THROW(run({"Unsqueeze", 13}, {x, far}), Error);
  EXPECT_THROW(run({"Unsqueeze", 13}, {x, Tensor(Ints{0, 0})}), Error);
  EXPECT_THROW(run({"Concat", 13, {{"axis", -3}}}, {x, x}), Error);
  EXPECT_THROW(run({"Transpose", 13, {{"perm", Ints{0, 2}}}}, {x}), Error);
  EXPECT_THROW(run({"CumSum", 14}, {x, axis}), Error);
  EXPECT_THROW(run({"Flatten", 13, {{"axis", most}}}, {x}), Error);
}

TEST(OnnxNodes, WhatIsNoSizeIsRefused) {
  const Tensor x = Tensor::zeros({1, 4, 2, 2});
  EXPECT_THROW(run({"Reshape", 14}, {x, Tensor(Ints{most, 2})}), Error);
  EXPECT_THROW(run({"Reshape", 14}, {x, Tensor(Ints{-1, -1})}), Error);
  EXPECT_THROW(run({"Reshape", 14}, {x, Tensor(Ints{1, 4, 2, 2, 0})}), Error);
  EXPECT_THROW(run({"Expand", 13}, {x, Tensor(Ints{-7})}), Error);
  EXPECT_THROW(run({"Tile", 13}, {x, Tensor(Ints{2})}), Error);
  EXPECT_THROW(run({"ConstantOfShape", 9}, {Tensor(Ints{-1})}), Error);
  EXPECT_THROW(run({"DepthToSpace", 13, {{"blocksize", 0}}}, {x}), Error);
  EXPECT_THROW(run({"DepthToSpace", 13, {{"blocksize", most}}}, {x}), Error);
  EXPECT_THROW(run({"SpaceToDepth", 13, {{"blocksize", 3}}}, {x}), Error);
  EXPECT_THROW((OneNode{"TopK", 11, {}, 2}({x, Tensor(Ints{3})})), Error);
  EXPECT_THROW((OneNode{"Split", 18, {{"num_outputs", most}}, 2}({x})), Error);
  EXPECT_THROW((OneNode{"Split", 18, {}, 2}({x, Tensor(Ints{most, 2})})), Error);
  EXPECT_THROW(run({"Range", 11}, {Tensor(Ints{0}), Tensor(Ints{1}), Tensor(Ints{0})}), Error);
  EXPECT_THROW(run({"OneHot", 11}, {Tensor(Ints{0}), Tensor(Ints{-2}), Tensor({0, 1})}), Error);
  EXPECT_THROW(run({"Pad", 18}, {x, Tensor(Ints{1, 1})}), Error);
}

TEST(OnnxNodes, IntegersAreDividedTowardZero) {
  const Tensor a(Ints{7, -7, 7, -7}), b(Ints{2, 2, -2, -2});
  EXPECT_TRUE(holds<std::int64_t>(run({"Div", 14}, {a, b}), {3, -3, -3, 3}, {4}));
  EXPECT_TRUE(holds<std::int64_t>(run({"Mod", 13}, {a, b}), {1, 1, -1, -1}, {4}));
  EXPECT_TRUE(holds<std::int64_t>(run({"Mod", 13, {{"fmod", 1}}}, {a, b}), {1, -1, 1, -1}, {4}));
}

TEST(OnnxNodes, TheResultOfAPowerHasTheTypeOfItsBase) {
  const Tensor base(Ints{2, 9}), root({2.0F, 0.5F});
  EXPECT_TRUE(holds<std::int64_t>(run({"Pow", 15}, {base, root}), {4, 3}, {2}));
}

TEST(OnnxNodes, TheLastOfEqualExtremesIsFound) {
  const Tensor x({{1, 3, 3}, {2, 2, 0}}, {.dtype = dtypes::f32});
  const OneNode last{"ArgMax", 13, {{"axis", 1}, {"keepdims", 0}, {"select_last_index", 1}}};
  EXPECT_TRUE(holds<std::int64_t>(run(last, {x}), {2, 1}, {2}));
}

TEST(OnnxNodes, RunningSumsMayLeaveOutTheElementAndGoBackwards) {
  const Tensor x({1, 2, 3}, {.dtype = dtypes::f32});
  const Value axis = Tensor(Ints{-1}).reshape({});
  EXPECT_TRUE(holds<float>(run({"CumSum", 14, {{"exclusive", 1}}}, {x, axis}), {0, 1, 3}, {3}));
  EXPECT_TRUE(holds<float>(run({"CumSum", 14, {{"reverse", 1}}}, {x, axis}), {6, 5, 3}, {3}));
  EXPECT_TRUE(holds<float>(run({"CumProd", 26, {{"exclusive", 1}, {"reverse", 1}}}, {x, axis}),
                           {6, 3, 1}, {3}));
}

// Places count from the end of an axis that is as long as the call says.
TEST(OnnxNodes, PlacesInSymbolicSizes) {
  const UOp n = Variable("n", 1, 8).bind(3);
  const Tensor x = Tensor::arange(16).cast(dtypes::f32).reshape({8, 2}).shrink({{0, n}, {0, 2}});
  const Value last = Tensor(Ints{-1, 0});
  EXPECT_TRUE(holds<float>(run({"Gather", 13}, {x, last}), {4, 5, 0, 1}, {2, 2}));
  const Value place = Tensor(Ints{-1, 1}).reshape({1, 2});
  EXPECT_TRUE(holds<float>(run({"GatherND", 13}, {x, place}), {5}, {1}));
  const Tensor written = run({"ScatterND", 18}, {x, place, Tensor({9.0F})});
  EXPECT_TRUE(written.dims()[0].is_symbolic());
  EXPECT_EQ(written.sum().item<float>(), 15 - 5 + 9);
}

TEST(OnnxNodes, RangesOfFarIntegersAreExact) {
  const auto range = [](std::int64_t start, std::int64_t limit, std::int64_t step) {
    const auto scalar = [](std::int64_t value) { return Tensor(Ints{value}).reshape({}); };
    return run({"Range", 11}, {scalar(start), scalar(limit), scalar(step)});
  };
  EXPECT_TRUE(holds<std::int64_t>(range(most - 2, most, 1), {most - 2, most - 1}, {2}));
  EXPECT_TRUE(holds<std::int64_t>(range(most, least, least), {most, -1}, {2}));
  EXPECT_TRUE(holds<std::int64_t>(range(5, 1, 1), {}, {0}));
  EXPECT_THROW(range(least, most, 1), Error);
}

TEST(OnnxNodes, RangesOfHalvesCountInSingles) {
  const auto half = [](double value) { return Tensor(value, {.dtype = dtypes::f16}); };
  const Tensor found = run({"Range", 27}, {half(2048), half(2052), half(1)});
  EXPECT_EQ(found.dtype(), dtypes::f16);
  EXPECT_TRUE(near(found, {2048, 2048, 2050, 2052}, {4}));  // halves have no odd numbers there
}

TEST(OnnxRandom, ASeedSaysTheNumbers) {
  const OneNode uniform{
      "RandomUniform", 22, {{"shape", Ints{1000}}, {"low", 2.0}, {"high", 4.0}, {"seed", 3.0}}};
  const Tensor first = run(uniform, {}), second = run(uniform, {});
  EXPECT_TRUE(first.equal(second));
  EXPECT_TRUE(first.ge(2).all().item<bool>() && first.lt(4).all().item<bool>());
  EXPECT_NEAR(first.mean().item<double>(), 3, 0.1);
  const OneNode other{"RandomUniform", 22, {{"shape", Ints{1000}}, {"seed", 4.0}}};
  EXPECT_FALSE(run(other, {}).equal(first));
}

TEST(OnnxRandom, NumbersWithoutASeedDiffer) {
  const Tensor like = Tensor::zeros({2000}, {.dtype = dtypes::f64});
  const OneNode normal{"RandomNormalLike", 22, {{"mean", 1.0}, {"scale", 2.0}}};
  const Tensor first = run(normal, {like}), second = run(normal, {like});
  EXPECT_EQ(first.dtype(), dtypes::f64);
  EXPECT_FALSE(first.equal(second));
  EXPECT_NEAR(first.mean().item<double>(), 1, 0.25);
  EXPECT_NEAR(first.std().item<double>(), 2, 0.25);
}

TEST(OnnxRandom, ClassesAreDrawnByTheirProbability) {
  const Tensor p({0, 1, 0.25}, {.dtype = dtypes::f32});
  const Tensor drawn = run({"Bernoulli", 22}, {p.unsqueeze(1).expand({3, 2000})}).mean(1);
  EXPECT_TRUE(near(drawn, {0, 1, 0.25}, {3}, 0.05));
  const Tensor weights = Tensor({{0, 0, 1e-30}, {1, 3, 0}}, {.dtype = dtypes::f32}).log();
  const OneNode draw{"Multinomial", 22, {{"sample_size", 2000}, {"dtype", 7}}};
  const Tensor hits = run(draw, {weights});
  EXPECT_EQ(hits.dtype(), dtypes::i64);
  EXPECT_TRUE(near(hits.to(dtypes::f32).mean(1), {2, 0.75}, {2}, 0.05));
}

}  // namespace
}  // namespace weft::onnx
