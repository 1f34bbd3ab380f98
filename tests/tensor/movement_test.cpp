#include "tensor_test.h"

namespace weft {
namespace {

Tensor counting(const Shape& shape, std::int64_t count) {
  return Tensor::arange(count).reshape(shape);
}

TEST(TensorMovement, Reshaping) {
  const Tensor x = counting({2, 3}, 6);
  EXPECT_EQ(x.reshape({3, -1}).shape(), (Sizes64{3, 2}));
  EXPECT_EQ(x.view({6}).shape(), (Sizes64{6}));
  EXPECT_EQ(x.flatten().shape(), (Sizes64{6}));
  EXPECT_EQ(counting({2, 3, 4}, 24).flatten(1).shape(), (Sizes64{2, 12}));
  EXPECT_EQ(counting({2, 3, 4}, 24).flatten(0, 1).shape(), (Sizes64{6, 4}));
  EXPECT_EQ(counting({2, 12}, 24).unflatten(-1, {3, -1}).shape(), (Sizes64{2, 3, 4}));
  EXPECT_EQ(x.unsqueeze(0).unsqueeze(-1).shape(), (Sizes64{1, 2, 3, 1}));
  EXPECT_EQ(x.unsqueeze(0).unsqueeze(-1).squeeze().shape(), (Sizes64{2, 3}));
  EXPECT_EQ(x.unsqueeze(0).unsqueeze(-1).squeeze(0).shape(), (Sizes64{2, 3, 1}));
  EXPECT_EQ(x.squeeze(0).shape(), (Sizes64{2, 3}));
  EXPECT_EQ(Tensor(1).reshape({1, 1}).shape(), (Sizes64{1, 1}));
  EXPECT_EQ(Tensor({5}).reshape({}).shape(), Sizes64{});
}

TEST(TensorMovement, ReshapeErrors) {
  const Tensor x = counting({2, 3}, 6);
  EXPECT_EQ(error_of([&] { x.reshape({4}); }),
            "reshape: shape (2, 3) to (4,): 6 elements are not 4");
  EXPECT_EQ(error_of([&] { x.reshape({4, -1}); }),
            "reshape: shape (2, 3) to (4, -1): 6 elements are no multiple of 4");
  EXPECT_EQ(error_of([&] { x.reshape({-1, -1}); }),
            "reshape: shape (2, 3) to (-1, -1): only one size can be -1");
  EXPECT_EQ(error_of([&] { x.reshape({-2, -3}); }),
            "reshape: shape (2, 3) to (-2, -3): a size is negative");
  EXPECT_EQ(error_of([&] { x.unsqueeze(4); }),
            "unsqueeze: there is no axis 4 in a tensor of 3 axes");
}

TEST(TensorMovement, SymbolicSizes) {
  const UOp n = Variable("n", 1, 8);
  const Tensor x = Tensor::ones({Dim(n), 4});
  EXPECT_EQ(x.reshape({Dim(n), 2, -1}).dims()[2].uop()->lo(), 2);
  EXPECT_TRUE(x.reshape({-1, 2, 2}).dims()[0].uop().is(n));
  EXPECT_TRUE(x.unsqueeze(0).reshape({2, -1, 2}).dims()[1].uop().is(n));
  EXPECT_EQ(error_of([&] { x.reshape({-1, 8}); }),
            "reshape: shape (n, 4) to (-1, 8): 4 elements are no multiple of 8");
  EXPECT_TRUE((x + Tensor::ones({4})).dims()[0].uop().is(n));
  EXPECT_EQ(error_of([&] { return x.shape(); }),
            "shape: the size n is symbolic, and has to be a number here");
}

TEST(TensorMovement, Permuting) {
  const Tensor x = counting({2, 3}, 6);
  EXPECT_TRUE(holds<int>(x.T(), {0, 3, 1, 4, 2, 5}, {3, 2}));
  EXPECT_TRUE(holds<int>(x.transpose(), {0, 3, 1, 4, 2, 5}, {3, 2}));
  EXPECT_EQ(counting({2, 3, 4}, 24).permute({2, 0, 1}).shape(), (Sizes64{4, 2, 3}));
  EXPECT_EQ(counting({2, 3, 4}, 24).transpose(-1, 0).shape(), (Sizes64{4, 3, 2}));
  EXPECT_EQ(error_of([&] { x.permute({0, 0}); }), "permute: axis 0 is given twice");
  EXPECT_EQ(error_of([&] { x.permute({0}); }), "permute: 1 axes for a tensor of shape (2, 3)");
}

TEST(TensorMovement, ExpandingAndRepeating) {
  const Tensor x{{1}, {2}};
  EXPECT_TRUE(holds<int>(x.expand({2, 3}), {1, 1, 1, 2, 2, 2}, {2, 3}));
  EXPECT_EQ(x.expand({4, -1, 3}).shape(), (Sizes64{4, 2, 3}));
  EXPECT_EQ(error_of([&] { x.expand({3, 1}); }), "expand: axis 0 of shape (2, 1) cannot become 3");
  EXPECT_TRUE(holds<int>(Tensor({1, 2}).repeat({2}), {1, 2, 1, 2}, {4}));
  EXPECT_TRUE(holds<int>(Tensor({1, 2}).repeat({2, 2}), {1, 2, 1, 2, 1, 2, 1, 2}, {2, 4}));
}

TEST(TensorMovement, FlippingShrinkingPadding) {
  const Tensor x = counting({2, 3}, 6);
  EXPECT_TRUE(holds<int>(x.flip(1), {2, 1, 0, 5, 4, 3}, {2, 3}));
  EXPECT_TRUE(holds<int>(x.flip({0, -1}), {5, 4, 3, 2, 1, 0}, {2, 3}));
  EXPECT_TRUE(holds<int>(x.shrink({{1, 2}, {0, 2}}), {3, 4}, {1, 2}));
  EXPECT_TRUE(holds<int>(x.pad({{0, 1}, {1, 0}}), {0, 0, 1, 2, 0, 3, 4, 5, 0, 0, 0, 0}, {3, 4}));
  EXPECT_TRUE(holds<int>(x.pad({{0, 0}, {1, 0}}, -1), {-1, 0, 1, 2, -1, 3, 4, 5}, {2, 4}));
  EXPECT_EQ(error_of([&] { x.shrink({{0, 2}}); }),
            "shrink: bounds for 1 axes of a tensor of shape (2, 3)");
  EXPECT_EQ(error_of([&] { x.shrink({{2, 1}, {0, 3}}); }),
            "shrink: from 2 to 1 is no part of axis 0 of shape (2, 3)");
}

// Every slice of an axis of size 7 against the rule of Python, spelled out.
TEST(TensorMovement, SlicesAsInPython) {
  const Tensor x = Tensor::arange(7);
  for (std::int64_t step : {1, 2, 3, 5, 9, -1, -2, -3, -9})
    for (std::int64_t start = -9; start <= 9; ++start)
      for (std::int64_t stop = -9; stop <= 9; ++stop) {
        std::vector<int> expected;
        std::int64_t from = start < 0 ? start + 7 : start, to = stop < 0 ? stop + 7 : stop;
        const std::int64_t least = step < 0 ? -1 : 0, most = step < 0 ? 6 : 7;
        from = std::max(least, std::min(most, from));
        to = std::max(least, std::min(most, to));
        for (std::int64_t i = from; step < 0 ? i > to : i < to; i += step)
          expected.push_back(static_cast<int>(i));
        const Tensor part = x[Slice{start, stop, step}];
        if ((start * 31 + stop * 7 + step) % 11 == 0)
          EXPECT_TRUE(holds<int>(part, expected, {std::ssize(expected)}))
              << start << ":" << stop << ":" << step;
        else
          EXPECT_EQ(part.shape(), (Sizes64{std::ssize(expected)}))
              << start << ":" << stop << ":" << step;
      }
}

TEST(TensorMovement, Indexing) {
  const Tensor x = counting({2, 3, 4}, 24);
  EXPECT_TRUE(holds<int>(x[1][2], {20, 21, 22, 23}, {4}));
  EXPECT_TRUE(holds<int>((x[{0, Slice{1, 3}, -1}]), {7, 11}, {2}));
  EXPECT_TRUE(holds<int>((x[{ellipsis, 0}]), {0, 4, 8, 12, 16, 20}, {2, 3}));
  EXPECT_EQ((x[{newaxis, ellipsis, newaxis, Slice{.step = 2}}].shape()), (Sizes64{1, 2, 3, 1, 2}));
  EXPECT_TRUE(holds<int>((x[{Slice{}, 0, Slice{.step = -2}}]), {3, 1, 15, 13}, {2, 2}));
  EXPECT_EQ((x[{1, 1, 1}].item<int>()), 17);
  EXPECT_EQ(error_of([&] { x[2]; }), "[]: index 2 is outside axis 0 of shape (2, 3, 4)");
  EXPECT_EQ(error_of([&] { x[{0, 0, 0, 0}]; }), "[]: 4 indices for a tensor of shape (2, 3, 4)");
  EXPECT_EQ(error_of([&] { x[Slice{.step = 0}]; }), "[]: the step is 0: want another number");
}

TEST(TensorMovement, Joining) {
  const Tensor a({1.0, -0.0}), b({3.0});
  EXPECT_TRUE(holds<float>(Tensor::cat({a, b, a}), {1, -0.0F, 3, 1, -0.0F}, {5}));
  EXPECT_TRUE(std::signbit(Tensor::cat({b, a}).to_vector<float>()[2]));
  EXPECT_TRUE(holds<int>(Tensor::cat({Tensor{{1}, {2}}, Tensor{{3, 4}, {5, 6}}}, -1),
                         {1, 3, 4, 2, 5, 6}, {2, 3}));
  EXPECT_TRUE(holds<int>(Tensor::stack({Tensor({1, 2}), Tensor({3, 4})}), {1, 2, 3, 4}, {2, 2}));
  EXPECT_TRUE(
      holds<int>(Tensor::stack({Tensor({1, 2}), Tensor({3, 4})}, -1), {1, 3, 2, 4}, {2, 2}));
  EXPECT_EQ(Tensor::cat({Tensor({1}), Tensor({2.5})}).dtype(), dtypes::f32);
  EXPECT_EQ(error_of([] { Tensor::cat({Tensor{{1, 2}}, Tensor{{1}}}); }),
            "cat: shapes (1, 2) and (1, 1) differ elsewhere than on axis 0");
}

TEST(TensorMovement, Splitting) {
  const Tensor x = Tensor::arange(7);
  const auto parts = x.split(3);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_TRUE(holds<int>(parts[2], {6}, {1}));
  EXPECT_TRUE(holds<int>(x.split({2, 5})[1], {2, 3, 4, 5, 6}, {5}));
  const auto chunks = x.chunk(3);
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_TRUE(holds<int>(chunks[1], {3, 4, 5}, {3}));
  EXPECT_EQ(error_of([&] {
              x.split({2, 4});
              return 0;
            }),
            "split: the sizes (2, 4) are not all of axis 0 of shape (7,)");
}

TEST(TensorMovement, RollingAndTriangles) {
  EXPECT_TRUE(holds<int>(Tensor({1, 2, 3, 4}).roll(1, 0), {4, 1, 2, 3}, {4}));
  EXPECT_TRUE(holds<int>(Tensor({1, 2, 3, 4}).roll(-6, 0), {3, 4, 1, 2}, {4}));
  const Tensor x = counting({3, 3}, 9) + 1;
  EXPECT_TRUE(holds<int>(x.tril(), {1, 0, 0, 4, 5, 0, 7, 8, 9}, {3, 3}));
  EXPECT_TRUE(holds<int>(x.tril(-1), {0, 0, 0, 4, 0, 0, 7, 8, 0}, {3, 3}));
  EXPECT_TRUE(holds<int>(x.triu(1), {0, 2, 3, 0, 0, 6, 0, 0, 0}, {3, 3}));
  EXPECT_EQ(Tensor({{true}}).tril().dtype(), dtypes::bool_);
  EXPECT_TRUE(holds<int>(x.diagonal(), {1, 5, 9}, {3}));
  EXPECT_TRUE(holds<int>(counting({2, 2, 3}, 12).diagonal(0, -2, -1), {0, 4, 6, 10}, {2, 2}));
}

TEST(TensorMovement, AtTheEndOfTheRange) {
  const Tensor x = Tensor::ones({2, 2});
  const auto far = std::int64_t{1} << 32;
  EXPECT_TRUE(holds<float>(x.tril(far), {1, 1, 1, 1}, {2, 2}));
  EXPECT_TRUE(holds<float>(x.tril(-far), {0, 0, 0, 0}, {2, 2}));
  EXPECT_TRUE(holds<float>(x.triu(2'147'483'647), {0, 0, 0, 0}, {2, 2}));
  EXPECT_TRUE(holds<int>(Tensor::arange(5).slice(0, {.step = INT64_MAX}), {0}, {1}));
  EXPECT_EQ(Tensor::zeros({0}).chunk(3).size(), 3U);
  EXPECT_EQ(Tensor::arange(5).chunk(INT64_MAX).size(), 5U);
  const std::vector<std::int64_t> too_large{INT64_MAX, 2};
  EXPECT_THROW(Tensor::arange(5).split(too_large), Error);
}

TEST(TensorMovement, GatheringByTensors) {
  const Context unchecked{{"CHECK", 0}};  // some are outside
  const Tensor x = counting({3, 2}, 6);
  EXPECT_TRUE(holds<int>(x.take(Tensor({2, 0, 2})), {4, 5, 0, 1, 4, 5}, {3, 2}));
  EXPECT_EQ(x.take(Tensor{{1, 0}}).shape(), (Sizes64{1, 2, 2}));
  EXPECT_TRUE(holds<int>(x.take(Tensor({3, -1})), {0, 0, 4, 5}, {2, 2}));
  EXPECT_TRUE(holds<int>((x * 2).take(Tensor(1)), {4, 6}, {2}));
  EXPECT_TRUE(holds<int>(x.gather(1, Tensor{{1}, {0}, {1}}), {1, 2, 5}, {3, 1}));
  EXPECT_TRUE(holds<int>(x.gather(0, Tensor{{2, 1}}), {4, 3}, {1, 2}));
  EXPECT_TRUE(holds<int>(Tensor({1, 0}).one_hot(3), {0, 1, 0, 1, 0, 0}, {2, 3}));
  EXPECT_EQ(error_of([&] { x.take(Tensor({1.5})); }), "take: the index is f32, not an integer");
}

TEST(TensorMovement, ViewsShareTheMemory) {
  Tensor x = counting({4, 6}, 24).contiguous().realize();
  x.rearrange("(a b) c -> c a b", {{"a", 2}}).select(0, 5).select(0, 1).assign(-1);
  EXPECT_TRUE(holds<int>(x.select(1, 5), {5, 11, -1, -1}, {4}));
  x.narrow(0, 0, 2).unbind()[1].assign(-2);
  EXPECT_TRUE(holds<int>(x[1], {-2, -2, -2, -2, -2, -2}, {6}));
  Tensor::einsum("ij->ji", {x}).tensor_split({2, 3})[1].assign(-3);
  EXPECT_TRUE(holds<int>(x.select(1, 2), {-3, -3, -3, -3}, {4}));
  x.rot90().movedim({0}, {1}).swapaxes(0, 1)[0].assign(7);
  EXPECT_TRUE(holds<int>(x.select(1, 5), {7, 7, 7, 7}, {4}));
}

// In sizes that only the run knows, wherever they are only passed on.
TEST(TensorMovement, SymbolicSizesPassThrough) {
  const UOp n = Variable("n", 1, 8);
  const Tensor x = Tensor::ones({Dim(n), 4, 6});
  const auto first_is_n = [&](const Tensor& y) { return y.dims()[0].uop().is(n); };
  EXPECT_TRUE(first_is_n(x.rearrange("b (h w) c -> b c h w", {{"h", 2}})));
  EXPECT_TRUE(first_is_n(x.reduce("b h c -> b c", Tensor::Reduce::Sum)));
  EXPECT_TRUE(first_is_n(Tensor::einsum("bij,bkj->bik", {x, x})));
  EXPECT_TRUE(first_is_n(x.unfold(1, 2, 2)));
  EXPECT_TRUE(first_is_n(x.repeat_interleave(2, 1)));
  EXPECT_TRUE(first_is_n(x.diagonal(1, 1, 2)));
  EXPECT_TRUE(first_is_n(x.pad({1, 2, -1, 0}, PadMode::Reflect)));
  EXPECT_TRUE(first_is_n(x.tensor_split(2, 1)[1]));
  EXPECT_TRUE(first_is_n(x.movedim(1, 2).select(2, 0).narrow(1, 1, 2)));
  EXPECT_TRUE(first_is_n(x.pad_to({-1, 5, 7}).shrink_to({-1, 2, 2})));
  EXPECT_TRUE(first_is_n(x.narrow(1, 0, 2).mT().roll({1, 2}, {1, 2})));
}

TEST(TensorMovement, NamesOfOtherMethods) {
  const Tensor x = counting({2, 3}, 6), like = Tensor::zeros({3, 2});
  EXPECT_EQ(x.reshape_as(like).shape(), (Sizes64{3, 2}));
  EXPECT_EQ(x.view_as(like).shape(), (Sizes64{3, 2}));
  EXPECT_EQ(x.ravel().shape(), (Sizes64{6}));
  EXPECT_EQ(x[0].expand_as(x).shape(), (Sizes64{2, 3}));
  EXPECT_EQ(x.broadcast_to({4, 2, 3}).shape(), (Sizes64{4, 2, 3}));
  EXPECT_EQ(x.swapdims(0, 1).shape(), (Sizes64{3, 2}));
  EXPECT_EQ(x.moveaxis(0, 1).shape(), (Sizes64{3, 2}));
  EXPECT_EQ(Tensor::concatenate({x, x}, 1).shape(), (Sizes64{2, 6}));
  EXPECT_TRUE(holds<int>(x.pad({{0, 0}, {1, 0}}), {0, 0, 1, 2, 0, 3, 4, 5}, {2, 4}));
  EXPECT_TRUE(holds<int>(x.pad({1, 0}, PadMode::Constant, 9), {9, 0, 1, 2, 9, 3, 4, 5}, {2, 4}));
}

// A reflection is that of the whole axis; other modes do not see what is taken away.
TEST(TensorMovement, WidthsOfBothSigns) {
  const Tensor x = counting({5}, 5);
  EXPECT_TRUE(holds<int>(x.pad({4, -2}, PadMode::Reflect), {4, 3, 2, 1, 0, 1, 2}, {7}));
  EXPECT_TRUE(holds<int>(x.pad({-3, 4}, PadMode::Reflect), {3, 4, 3, 2, 1, 0}, {6}));
  EXPECT_TRUE(holds<int>(x.pad({2, -2}, PadMode::Replicate), {0, 0, 0, 1, 2}, {5}));
  EXPECT_TRUE(holds<int>(x.pad({2, -2}, PadMode::Circular), {1, 2, 0, 1, 2}, {5}));
  EXPECT_THROW(x.pad({5, -2}, PadMode::Reflect), Error);
  EXPECT_THROW(x.pad({-9, 2}, PadMode::Reflect), Error);
}

// In one kernel each part is a loop of its own, which takes long to compile.
TEST(TensorMovement, ManyAreJoinedByFewKernels) {
  std::vector<Tensor> parts;
  std::vector<float> wanted;
  for (int i = 0; i < 300; ++i) {
    wanted.push_back(static_cast<float>(i));
    parts.push_back(Tensor({wanted.back()}));
  }
  Tensor::realize(parts);
  const Tensor joined = Tensor::cat(parts);
  const std::size_t kernels = joined.schedule().size();
  EXPECT_TRUE(1 < kernels && kernels < 10) << kernels;
  EXPECT_EQ(joined.to_vector<float>(), wanted);
}

// Their lengths are those that the program names, wherever they start.
TEST(TensorMovement, PartsOfSymbolicLengths) {
  const UOp variable = Variable("n", 1, 8);
  const Dim n(variable.bind(3));
  const Tensor t = Tensor::arange(8).contiguous().realize();
  EXPECT_EQ((t.narrow(0, 0, n) + Tensor::ones({n})).sum().item<int>(), 6);
  EXPECT_EQ((t.narrow(0, 1, n) - t.narrow(0, 0, n)).sum().item<int>(), 3);
  EXPECT_EQ((t.narrow(0, n, n) - t[Slice{0, n}]).sum().item<int>(), 9);
}

}  // namespace
}  // namespace weft
