#include <sstream>

#include <weft/dev/ir/graph.h>

#include "tensor_test.h"

namespace weft {
namespace {

std::vector<const Node*> nodes_with(const Tensor& tensor, Op op) {
  std::vector<const Node*> found;
  for (const Node* node : toposort(tensor.uop().node()))
    if (node->op() == op) found.push_back(node);
  return found;
}

bool is_only_movement(const Tensor& part) {
  const Node* node = part.uop().node();
  while (info(node->op()).cls == OpClass::Movement) node = node->src(0);
  return node->op() == Op::Buffer;
}

TEST(TensorViews, AConvolutionIsAProductOfTwoViews) {
  const Tensor x = Tensor::empty({16, 3, 64, 64}).realize(),
               w = Tensor::empty({16, 3, 3, 3}).realize();
  const Tensor conv = x.conv2d(w);
  const auto products = nodes_with(conv, Op::Mul), sums = nodes_with(conv, Op::Reduce);
  ASSERT_EQ(products.size(), 1u);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(
      views_of(UOp(products[0]->src(0))).str(),
      "shape (16, 1, 16, 62, 62, 3, 3, 3), strides (12288, 0, 0, 64, 1, 4096, 64, 1), offset 0");
  EXPECT_EQ(views_of(UOp(products[0]->src(1))).str(),
            "shape (16, 1, 16, 62, 62, 3, 3, 3), strides (0, 0, 27, 0, 0, 9, 3, 1), offset 0");
  EXPECT_EQ(views_of(UOp(sums[0])).list.back().shape, (Sizes64{16, 1, 16, 62, 62, 1, 1, 1}));
}

TEST(TensorViews, Print) {
  std::ostringstream out;
  out << Tensor::empty({4, 6}).realize().transpose().views();
  EXPECT_EQ(out.str(), "shape (6, 4), strides (1, 6), offset 0");
}

TEST(TensorViews, NumbersAndSlicesAreMovement) {
  const Tensor x = Tensor(ramp(60, 0, 1)).reshape({3, 4, 5}).realize();
  for (const Tensor& part :
       std::vector<Tensor>{x[{1}], x[{-1, 2}], x[{Slice{.start = 1}, 0}], x[{1, Slice{.step = -2}}],
                           x.slice(2, {.step = 3}), x[{ellipsis, 1}], x.reshape({12, 5}),
                           x.permute({2, 0, 1}), x.unsqueeze(0).expand({7, 3, 4, 5})})
    EXPECT_TRUE(is_only_movement(part)) << part.views();
}

TEST(TensorViews, ATensorAsIndexIsVisiblyAGather) {
  const Tensor x = Tensor(ramp(12, 0, 1)).reshape({3, 4}).realize();
  const Tensor rows = x.take(Tensor({2, 0}));
  EXPECT_FALSE(is_only_movement(rows));
  EXPECT_EQ(nodes_with(rows, Op::Load).size(), 1u);
  EXPECT_TRUE(nodes_with(x[{2}], Op::Load).empty());
}

TEST(TensorViews, NeedNoKernel) {
  const Tensor x = Tensor(ramp(24, 0, 1)).reshape({2, 3, 4}).realize();
  const Tensor part = x.permute({2, 0, 1}).reshape({4, 2, 3, 1}).expand({4, 2, 3, 5});
  EXPECT_EQ(part.views().base->op(), Op::Buffer);
  EXPECT_TRUE(part.realize().views().base.is(x.views().base));
}

// What was computed as part of another tensor is a view of that, and no storage.
TEST(TensorViews, ElementsOfWhatIsInTheMemoryOfAnother) {
  const Context checked{{"SPEC", 1}};
  const Tensor x = Tensor::arange(6).to_float().reshape({2, 3}).realize();
  const Tensor copy = x.contiguous(), row = copy.take(Tensor({1}), 0);
  copy.reshape({6}).realize();
  EXPECT_TRUE(holds<float>(row, {3, 4, 5}, {1, 3}));
  const Tensor other = (x * 2.f).contiguous(), rows = other[Tensor({1, 0})];
  other.reshape({6}).realize();
  EXPECT_TRUE(holds<float>(rows, {6, 8, 10, 0, 2, 4}, {2, 3}));
}

// Methods that compute give no view, also where there is nothing to compute.
TEST(Views, NoneAreWhatIsComputed) {
  const Tensor x({1.f, 2.f});
  Tensor row = x.unsqueeze(0).clone();
  for (const PadMode mode :
       {PadMode::Constant, PadMode::Reflect, PadMode::Replicate, PadMode::Circular}) {
    Tensor padded = row.pad({{0, 0}, {0, 0}}, mode);
    padded.assign(5);
    EXPECT_TRUE(holds<float>(row, {1, 2}, {1, 2}));
  }
  Tensor wider = row.unsqueeze(0).interpolate({4}, {.mode = Resampling::Nearest});
  wider[{0, 0, 0}] = 7;
  EXPECT_TRUE(holds<float>(wider, {7, 1, 2, 2}, {1, 1, 4}));
}

}  // namespace
}  // namespace weft
