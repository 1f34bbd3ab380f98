// What operators meant in opsets that the standard's own tests no longer have.

#include <limits>

#include "../tensor/tensor_test.h"
#include "one_node.h"

namespace weft::onnx {
namespace {

Tensor run_node(const OneNode& node, const std::vector<Value>& inputs) {
  return node(inputs).at(0).tensor();
}

Tensor counted(const Sizes64& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return Tensor(ramp(count, 0, 1)).reshape(shape);
}

using Ints = std::vector<std::int64_t>;

TEST(OnnxOldOpsets, TheSecondOperandBroadcastsFromAnAxisOn) {
  const Tensor x = counted({1, 2, 1, 2}), per_channel({10, 20}, {.dtype = dtypes::f32});
  const OneNode from_channels{"Add", 6, {{"broadcast", 1}, {"axis", 1}}};
  EXPECT_TRUE(
      holds<float>(run_node(from_channels, {x, per_channel}), {10, 11, 22, 23}, {1, 2, 1, 2}));
  const OneNode at_the_end{"Sub", 1, {{"broadcast", 1}}};
  EXPECT_TRUE(
      holds<float>(run_node(at_the_end, {x, per_channel}), {-10, -19, -8, -17}, {1, 2, 1, 2}));
  const OneNode compared{"Greater", 1, {{"broadcast", 1}, {"axis", -3}}};
  const Tensor least({0, 2}, {.dtype = dtypes::f32});
  EXPECT_TRUE(
      holds<bool>(run_node(compared, {x, least}), {false, true, false, true}, {1, 2, 1, 2}));
  const OneNode beyond{"Add", 6, {{"broadcast", 1}, {"axis", 3}}};
  EXPECT_THROW(run_node(beyond, {x, counted({2, 2})}), Error);
}

TEST(OnnxOldOpsets, AxesAreAttributes) {
  const Tensor x = counted({1, 2, 3});
  EXPECT_TRUE(
      holds<float>(run_node({"ReduceSum", 1, {{"axes", Ints{0, 2}}}}, {x}), {3, 12}, {1, 2, 1}));
  EXPECT_TRUE(holds<float>(run_node({"ReduceMax", 12, {{"axes", Ints{-1}}, {"keepdims", 0}}}, {x}),
                           {2, 5}, {1, 2}));
  EXPECT_TRUE(holds<float>(run_node({"ReduceMean", 1}, {x}), {2.5}, {1, 1, 1}));
  EXPECT_EQ(run_node({"Squeeze", 1, {{"axes", Ints{0}}}}, {x}).shape(), (Sizes64{2, 3}));
  EXPECT_EQ(run_node({"Unsqueeze", 1, {{"axes", Ints{4, 0}}}}, {x}).shape(),
            (Sizes64{1, 1, 2, 3, 1}));
  EXPECT_THROW(run_node({"Squeeze", 1, {{"axes", Ints{1}}}}, {x}), Error);
}

TEST(OnnxOldOpsets, PartsAreAttributes) {
  const Tensor x = counted({2, 4});
  const OneNode slice{"Slice", 1, {{"axes", Ints{1}}, {"starts", Ints{-3}}, {"ends", Ints{1000}}}};
  EXPECT_TRUE(holds<float>(run_node(slice, {x}), {1, 2, 3, 5, 6, 7}, {2, 3}));
  const OneNode split{"Split", 2, {{"axis", 1}, {"split", Ints{1, 3}}}, 2};
  const std::vector<Value> parts = split({x});
  EXPECT_TRUE(holds<float>(parts[0].tensor(), {0, 4}, {2, 1}));
  EXPECT_TRUE(holds<float>(parts[1].tensor(), {1, 2, 3, 5, 6, 7}, {2, 3}));
  const OneNode uneven{"Split", 11, {{"axis", 1}}, 3};
  EXPECT_THROW(uneven({x}), Error);
  EXPECT_TRUE(holds<float>(run_node({"Reshape", 1, {{"shape", Ints{0, 2, -1}}}}, {x}),
                           {0, 1, 2, 3, 4, 5, 6, 7}, {2, 2, 2}));
}

TEST(OnnxOldOpsets, PaddingIsAnAttribute) {
  const Tensor x = counted({1, 2});
  const OneNode first{"Pad", 1, {{"paddings", Ints{0, 1, 1, 0}}, {"value", 5.0}}};
  EXPECT_TRUE(holds<float>(run_node(first, {x}), {5, 0, 1, 5, 5, 5}, {2, 3}));
  const OneNode second{"Pad", 2, {{"pads", Ints{0, -1, 0, 2}}, {"mode", "edge"}}};
  EXPECT_TRUE(holds<float>(run_node(second, {x}), {1, 1, 1}, {1, 3}));
}

TEST(OnnxOldOpsets, BoundsAreAttributes) {
  const Tensor x({-3, 0, 3}, {.dtype = dtypes::f32});
  EXPECT_TRUE(holds<float>(run_node({"Clip", 6, {{"min", -1.0}}}, {x}), {-1, 0, 3}, {3}));
  EXPECT_TRUE(holds<float>(run_node({"Clip", 1, {{"max", 2.0}}}, {x}), {-3, 0, 2}, {3}));
  EXPECT_TRUE(holds<float>(run_node({"Clip", 6}, {x}), {-3, 0, 3}, {3}));
}

// Each axis that has fewer elements then takes the next one, whatever others do.
TEST(OnnxOldOpsets, TheNearestElementIsFoundForEachAxis) {
  const Tensor shorter({1, 1, 0.5, 2}, {.dtype = dtypes::f32});
  const Tensor narrower({1, 1, 2, 0.6}, {.dtype = dtypes::f32});
  EXPECT_TRUE(holds<float>(run_node({"Resize", 10}, {counted({1, 1, 4, 3}), shorter}),
                           {0, 0, 1, 1, 2, 2, 6, 6, 7, 7, 8, 8}, {1, 1, 2, 6}));
  EXPECT_TRUE(holds<float>(run_node({"Resize", 10}, {counted({1, 1, 2, 5}), narrower}),
                           {0, 2, 4, 0, 2, 4, 5, 7, 9, 5, 7, 9}, {1, 1, 4, 3}));
}

// Along all axes from the given one on, by default from the second.
TEST(OnnxOldOpsets, SoftmaxTakesTheLastAxesAsOne) {
  const Tensor x = Tensor::zeros({2, 2, 2});
  EXPECT_TRUE(near(run_node({"Softmax", 11}, {x}), std::vector<double>(8, 0.25), {2, 2, 2}));
  EXPECT_TRUE(
      near(run_node({"Softmax", 11, {{"axis", 2}}}, {x}), std::vector<double>(8, 0.5), {2, 2, 2}));
  EXPECT_TRUE(
      near(run_node({"LogSoftmax", 1}, {x}), std::vector<double>(8, std::log(0.25)), {2, 2, 2}));
  EXPECT_TRUE(
      holds<float>(run_node({"Hardmax", 1}, {counted({1, 2, 2})}), {0, 0, 0, 1}, {1, 2, 2}));
  EXPECT_TRUE(
      holds<float>(run_node({"Hardmax", 13}, {counted({1, 2, 2})}), {0, 1, 0, 1}, {1, 2, 2}));
}

TEST(OnnxOldOpsets, CountsAreAttributesOrInputs) {
  const Tensor x({1, 3, 2}, {.dtype = dtypes::f32});
  const std::vector<Value> top = OneNode{"TopK", 1, {{"k", 2}}, 2}({x});
  EXPECT_TRUE(holds<float>(top[0].tensor(), {3, 2}, {2}));
  EXPECT_TRUE(holds<std::int64_t>(top[1].tensor(), {1, 2}, {2}));
  const Tensor twice(Ints{2}), axis(Ints{0});
  EXPECT_TRUE(holds<float>(run_node({"Tile", 1}, {x, twice.reshape({}), axis.reshape({})}),
                           {1, 3, 2, 1, 3, 2}, {6}));
  EXPECT_TRUE(
      holds<float>(run_node({"Concat", 1}, {counted({1, 2}), counted({1, 1})}), {0, 1, 0}, {1, 3}));
}

TEST(OnnxOldOpsets, ActivationsHadOtherParameters) {
  const Tensor x = Tensor({-1, 1, -2, 2}, {.dtype = dtypes::f32}).reshape({1, 2, 1, 2});
  const Tensor slope({0.5, 0.25}, {.dtype = dtypes::f32});
  EXPECT_TRUE(holds<float>(run_node({"PRelu", 6}, {x, slope}), {-0.5, 1, -0.5, 2}, {1, 2, 1, 2}));
  const Tensor one({1.0});
  EXPECT_TRUE(near(run_node({"Selu", 1}, {one}), {1.0507}, {1}, 1e-7));
  EXPECT_TRUE(near(run_node({"Selu", 6}, {one}), {1.05070102}, {1}, 1e-7));
}

TEST(OnnxOldOpsets, TypesWereNamed) {
  const Tensor x({1.75, -2.5});
  EXPECT_EQ(run_node({"Cast", 1, {{"to", "INT32"}}}, {x}).dtype(), dtypes::i32);
  EXPECT_TRUE(holds<std::int64_t>(run_node({"Cast", 1, {{"to", "INT64"}}}, {x}), {1, -2}, {2}));
  EXPECT_THROW(run_node({"Cast", 1, {{"to", "INTEGER"}}}, {x}), Error);
}

}  // namespace
}  // namespace weft::onnx
