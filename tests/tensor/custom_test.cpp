#include <weft/dev/rules/custom_op.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/text.h>

#include "tensor_test.h"

namespace weft {
namespace {

CustomOp cube() {
  return {.meaning = [](const std::vector<UOp>& x) { return x[0] * x[0] * x[0]; }};
}

Tensor tensor(std::vector<float> values, const std::string& device = default_device()) {
  return Tensor(values, {.device = device});
}

class AddedOps : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, AddedOps, testing::Values("CPU", "INTERP"));

TEST_P(AddedOps, ComputeWhatTheyMean) {
  const AddedOp added("cube", cube());
  const Tensor y = Tensor::custom("cube", {tensor({1, -2, 3}, GetParam())}) + 1;
  EXPECT_EQ(toposort(y.uop().node()).size(), 6u) << "not kept as one op";
  EXPECT_TRUE(holds<float>(y, {2, -7, 28}, {3}));
}

TEST_P(AddedOps, HaveTheGradientOfWhatTheyMean) {
  const AddedOp added("cube", cube());
  Tensor x = tensor({1, -2, 3}, GetParam());
  const Tensor y = Tensor::custom("cube", {x});
  EXPECT_TRUE(holds<float>(y.sum().gradient({x})[0], {3, 12, 27}, {3}));
  const Tensor first = (y * y).sum().gradient({x})[0];  // of x^6, twice
  EXPECT_TRUE(holds<float>(first.sum().gradient({x})[0], {30, 480, 2430}, {3}));
  x.set_requires_grad();
  Tensor::custom("cube", {x}).sum().backward();
  EXPECT_TRUE(holds<float>(x.grad(), {3, 12, 27}, {3}));
}

TEST_P(AddedOps, MayHaveAGradientOfTheirOwn) {
  const AddedOp added(
      "step",
      {.meaning =
           [](const std::vector<UOp>& x) {
             return cast(x[0] > literal_like(std::int64_t{0}, x[0]), x[0]->dtype());
           },
       .backward = [](const UOp& g, const UOp& y) { return std::vector<UOp>{g * y.src(1)}; }});
  const Tensor x = tensor({5, -7}, GetParam());
  const Tensor y = Tensor::custom("step", {x});
  EXPECT_TRUE(holds<float>((y * 2).sum().gradient({x})[0], {10, -14}, {2}));
  EXPECT_TRUE(holds<float>(y, {1, 0}, {2}));
}

TEST_P(AddedOps, MayHaveAnyShapeAndSeveralOperands) {
  const AddedOp added("product", {.meaning = [](const std::vector<UOp>& x) {
                        const Sizes a = sizes_of(x[0]), b = sizes_of(x[1]);
                        const Sizes all{a[0], b[1], a[1]};
                        const UOp rows = expand(reshape(x[0], {a[0], const_int(1), a[1]}), all);
                        const UOp columns =
                            expand(reshape(permute(x[1], {1, 0}), {const_int(1), b[1], a[1]}), all);
                        return reshape(reduce(Op::Add, rows * columns, {2}), {a[0], b[1]});
                      }});
  const Tensor a = tensor({1, 2, 3, 4, 5, 6}, GetParam()).reshape({2, 3});
  const Tensor b = tensor({1, 0, 0, 1, 1, 1}, GetParam()).reshape({3, 2});
  const Tensor product = Tensor::custom("product", {a, b});
  const auto gradients = product.sum().gradient({a, b});
  EXPECT_TRUE(holds<float>(gradients[0], {1, 1, 2, 1, 1, 2}, {2, 3}));
  EXPECT_TRUE(holds<float>(gradients[1], {5, 5, 7, 7, 9, 9}, {3, 2}));
  EXPECT_TRUE(holds<float>(product, {4, 5, 10, 11}, {2, 2}));
}

TEST(AddedOp, MayBeMadeOfOthers) {
  const AddedOp inner("cube", cube());
  const AddedOp outer("ninth", {.meaning = [](const std::vector<UOp>& x) {
                        return custom_op("cube", {custom_op("cube", x)});
                      }});
  const Tensor x = tensor({2, -1});
  const Tensor y = Tensor::custom("ninth", {x});
  EXPECT_TRUE(holds<float>(y.sum().gradient({x})[0], {9 * 256, 9}, {2}));
  EXPECT_TRUE(holds<float>(y, {512, -1}, {2}));
}

TEST(AddedOp, IsWhatItWasLastAddedAs) {
  for (const int factor : {2, 3}) {
    const AddedOp added("scale",
                        {.meaning = [factor](const std::vector<UOp>& x) { return x[0] * factor; }});
    EXPECT_TRUE(holds<float>(Tensor::custom("scale", {tensor({5, 7})}),
                             {5.0F * static_cast<float>(factor), 7.0F * static_cast<float>(factor)},
                             {2}));
  }
}

TEST(AddedOp, IsAnErrorWhereItIsNotThere) {
  EXPECT_THROW(Tensor::custom("cube", {tensor({1})}), Error);
  Tensor left;
  {
    const AddedOp added("cube", cube());
    EXPECT_THROW(AddedOp("cube", cube()), Error);
    left = Tensor::custom("cube", {tensor({1})});
  }
  EXPECT_THROW(left.realize(), Error);
  EXPECT_THROW(AddedOp("nothing", CustomOp{}), Error);
  const AddedOp added("cube", cube());  // again
  EXPECT_TRUE(holds<float>(left, {1}, {1}));
}

TEST(AddedOp, CannotMeanItselfOrNothing) {
  const AddedOp endless(
      "endless", {.meaning = [](const std::vector<UOp>& x) { return custom_op("endless", x); }});
  EXPECT_THROW(Tensor::custom("endless", {tensor({1})}), Error);
  const AddedOp nothing("nothing", {.meaning = [](const std::vector<UOp>&) { return UOp(); }});
  EXPECT_THROW(Tensor::custom("nothing", {tensor({1})}), Error);
}

TEST(AddedOp, CannotBringMemoryOfItsOwn) {
  const AddedOp added("table", {.meaning = [](const std::vector<UOp>& x) {
                        return x[0] + make(Op::Buffer, {const_int(1)}, dtypes::f32,
                                           BufferArg{.id = fresh_id(), .device = Symbol("CPU")});
                      }});
  EXPECT_THROW(Tensor::custom("table", {tensor({1})}).realize(), Error);
}

TEST(AddedOp, PrintsAndParsesAsANode) {
  const AddedOp added("cube", cube());
  const UOp value = make(Op::Param, {const_int(4)}, dtypes::f32, ParamArg{});
  const UOp node = custom_op("cube", {value});
  EXPECT_EQ(node->shape(), value->shape());
  const std::string text = print_graph({"g", {node}});
  EXPECT_NE(text.find("custom %1, %2 {code = \"cube\"} : f32"), std::string::npos) << text;
  EXPECT_TRUE(parse_graphs(text)[0].roots[0].is(node));
}

}  // namespace
}  // namespace weft
