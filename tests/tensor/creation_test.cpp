#include <array>
#include <unordered_set>

#include "tensor_test.h"

namespace weft {
namespace {

TEST(TensorCreation, NestedBracesGiveTheShape) {
  EXPECT_TRUE(holds<int>(Tensor({1, 2, 3}), {1, 2, 3}, {3}));
  EXPECT_TRUE(holds<int>(Tensor{{1, 2}, {3, 4}, {5, 6}}, {1, 2, 3, 4, 5, 6}, {3, 2}));
  EXPECT_TRUE(holds<int>(Tensor{{{{1, 2}}, {{3, 4}}}}, {1, 2, 3, 4}, {1, 2, 1, 2}));
  EXPECT_TRUE(holds<float>(Tensor{{1.5, 2.0}}, {1.5F, 2.0F}, {1, 2}));
}

TEST(TensorCreation, DtypeFollowsFromTheValues) {
  EXPECT_EQ(Tensor({1, 2}).dtype(), dtypes::i32);
  EXPECT_EQ(Tensor({1, 2.5}).dtype(), dtypes::f32);
  EXPECT_EQ(Tensor({true, false}).dtype(), dtypes::bool_);
  EXPECT_EQ(Tensor({1, 2}, {.dtype = dtypes::f16}).dtype(), dtypes::f16);
  EXPECT_EQ(Tensor(2.5).dtype(), dtypes::f32);
  EXPECT_EQ(Tensor(3).dtype(), dtypes::i32);
  EXPECT_EQ(Tensor(std::vector<std::int64_t>{1}).dtype(), dtypes::i64);
  EXPECT_EQ(Tensor(std::vector<double>{1}).dtype(), dtypes::f64);
}

TEST(TensorCreation, IntegersBeyond32BitsAreI64) {
  constexpr int most = 2147483647;
  constexpr std::int64_t large = 5'000'000'000;
  EXPECT_EQ(Tensor({-most - 1, most}).dtype(), dtypes::i32);
  EXPECT_EQ(Tensor({2147483648U}).dtype(), dtypes::i64);
  EXPECT_EQ(Tensor({large, 0.5}).dtype(), dtypes::f32);
  EXPECT_TRUE(holds<std::int64_t>(Tensor({{1, large}}), {1, large}, {1, 2}));
  EXPECT_TRUE(holds<std::int64_t>(Tensor(-large), {-large}, {}));
  EXPECT_TRUE(holds<std::int64_t>(Tensor::full({2}, large), {large, large}, {2}));
  EXPECT_TRUE(holds<std::int64_t>(Tensor::arange(large, large + 3, 2), {large, large + 2}, {2}));
}

TEST(TensorCreation, RaggedBracesAreRefused) {
  EXPECT_EQ(error_of([] { Tensor({{1, 2}, {3}}); }),
            "Tensor: the values are ragged: at level 1 there is 1 values where the others have 2");
  EXPECT_EQ(
      error_of([] { Tensor({{1}, 2}); }),
      "Tensor: the values are ragged: at level 1 there is a number where the others have a list");
  EXPECT_EQ(
      error_of([] { Tensor({1, {2}}); }),
      "Tensor: the values are ragged: at level 1 there is a list where the others have a number");
}

TEST(TensorCreation, FromContainers) {
  const std::array<float, 3> values{1, 2, 3};
  EXPECT_TRUE(holds<float>(Tensor(std::span<const float>(values)), {1, 2, 3}, {3}));
  EXPECT_TRUE(holds<bool>(Tensor(std::vector<bool>{true, false}), {true, false}, {2}));
  EXPECT_TRUE(
      holds<int>(Tensor(std::vector<float>{1.9F, -1.9F}, {.dtype = dtypes::i8}), {1, -1}, {2}));
}

TEST(TensorCreation, BlobIsUsedInPlace) {
  std::array<float, 4> values{1, 2, 3, 4};
  const Tensor x = Tensor::from_blob(values.data(), {2, 2});
  values[3] = 7;
  EXPECT_TRUE(holds<float>(x, {1, 2, 3, 7}, {2, 2}));
  EXPECT_EQ(x.data<float>().data(), values.data());
}

TEST(TensorCreation, BlobKeepsItsOwner) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2});
  const std::weak_ptr<std::vector<float>> watch = owner;
  {
    const Tensor x = Tensor::from_blob(owner->data(), {2}, {}, owner);
    owner.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_TRUE(holds<float>(x, {1, 2}, {2}));
  }
  EXPECT_TRUE(watch.expired());
}

TEST(TensorCreation, RecipesAreFollowedWhenTheyAreNeeded) {
  for (const char* device : {"CPU", "INTERP"}) {
    int times = 0;
    const auto fill = [&times](std::span<std::byte> bytes) {
      const float number = static_cast<float>(++times);
      for (std::size_t at = 0; at < bytes.size(); at += sizeof number)
        std::memcpy(bytes.data() + at, &number, sizeof number);
    };
    Tensor x = Tensor::from_recipe(fill, {3}, {.device = device});
    EXPECT_EQ(times, 0);
    EXPECT_TRUE(holds<float>(x + 1, {2, 2, 2}, {3}));
    EXPECT_TRUE(holds<float>(x, {1, 1, 1}, {3}));
    EXPECT_EQ(times, 1);
    x.assign(Tensor::full({3}, 5.0F, {.device = device}));
    EXPECT_TRUE(holds<float>(x, {5, 5, 5}, {3}));
  }
}

TEST(TensorCreation, Constants) {
  EXPECT_TRUE(holds<float>(Tensor::zeros({2, 2}), {0, 0, 0, 0}, {2, 2}));
  EXPECT_TRUE(holds<int>(Tensor::ones({3}, {.dtype = dtypes::i16}), {1, 1, 1}, {3}));
  EXPECT_EQ(Tensor::full({2}, 7).dtype(), dtypes::i32);
  EXPECT_TRUE(holds<float>(Tensor::full({1, 2}, 2.5), {2.5F, 2.5F}, {1, 2}));
  EXPECT_EQ(Tensor::ones({2}, {.dtype = dtypes::f16}).full_like(3).dtype(), dtypes::f16);
  EXPECT_EQ(Tensor::empty({2, 3}).shape(), (Sizes64{2, 3}));
  EXPECT_TRUE(holds<float>(Tensor::zeros({0, 2}), {}, {0, 2}));
}

TEST(TensorCreation, AsAnotherTensorIs) {
  const Tensor x = Tensor::ones({2, 1}, {.dtype = dtypes::f16});
  EXPECT_EQ(x.empty_like().shape(), (Sizes64{2, 1}));
  EXPECT_EQ(x.empty_like().dtype(), dtypes::f16);
  EXPECT_EQ(x.empty_like({.dtype = dtypes::i8, .device = "INTERP:1"}).dtype(), dtypes::i8);
  EXPECT_EQ(x.zeros_like({.device = "INTERP:1"}).device(), "INTERP:1");
  EXPECT_EQ(x.ones_like({.dtype = dtypes::i64}).dtype(), dtypes::i64);
  EXPECT_TRUE(x.full_like(2, {.requires_grad = true}).requires_grad());
  EXPECT_TRUE(holds<float>(Tensor::constant(2.5), {2.5F}, {}));
  EXPECT_EQ(Tensor::constant(1, {.dtype = dtypes::u8}).dtype(), dtypes::u8);
  EXPECT_TRUE(holds<float>(x.ufix(0.5), {0.5F}, {}));
  EXPECT_EQ(x.ufix(2).dtype(), dtypes::f16);
  EXPECT_EQ(Tensor({1}).ufix(0.5).dtype(), dtypes::f32);
  EXPECT_EQ(Tensor({1}).ufix(x).shape(), (Sizes64{2, 1}));
}

TEST(TensorCreation, WhatATensorIs) {
  const Tensor x = Tensor::arange(6, {.dtype = dtypes::i16}).reshape({2, 3});
  EXPECT_EQ(x.ndim(), 2);
  EXPECT_EQ(x.size(-1), 3);
  EXPECT_EQ(x.len(), 2);
  EXPECT_EQ(x.numel(), 6);
  EXPECT_EQ(x.nbytes(), 12U);
  EXPECT_EQ(x.tolist<int>(), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(x.T().numpy<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  const Tensor some = Tensor::ones({Dim(Variable("n", 1, 8)), 3});
  EXPECT_EQ(some.max_shape(), (Sizes64{8, 3}));
  EXPECT_EQ(some.max_numel(), 24);
  EXPECT_EQ(error_of([] { return Tensor(1).len(); }),
            "len: a tensor of shape () has no first axis");
}

// `==` gives a tensor, so what compares two handles is is().
TEST(TensorCreation, HandlesAreKeys) {
  static_assert(!std::is_constructible_v<bool, Tensor>);
  const auto same = [](const Tensor& a, const Tensor& b) { return a.is(b); };
  const Tensor x({1}), copy = x, equal({1});
  const std::unordered_set<Tensor, std::hash<Tensor>, decltype(same)> set{x, copy, equal};
  EXPECT_EQ(set.size(), 2U);
  EXPECT_TRUE(set.contains(copy));
  EXPECT_FALSE(set.contains(x.reshape({1, 1})));
}

TEST(TensorCreation, Counting) {
  EXPECT_TRUE(holds<int>(Tensor::arange(5), {0, 1, 2, 3, 4}, {5}));
  EXPECT_EQ(Tensor::arange(5).dtype(), dtypes::i32);
  EXPECT_TRUE(holds<int>(Tensor::arange(5, 0, -2), {5, 3, 1}, {3}));
  EXPECT_TRUE(holds<float>(Tensor::arange(0.0, 1.0, 0.25), {0, 0.25F, 0.5F, 0.75F}, {4}));
  EXPECT_TRUE(holds<int>(Tensor::arange(3, 3, 1), {}, {0}));
  EXPECT_TRUE(near(Tensor::linspace(0, 1, 5), {0, 0.25, 0.5, 0.75, 1}, {5}));
  EXPECT_TRUE(near(Tensor::linspace(2, 9, 1), {2}, {1}));
  EXPECT_EQ(error_of([] { Tensor::arange(0, 5, 0); }),
            "arange: the step is 0: want another number");
}

TEST(TensorCreation, Identity) {
  EXPECT_TRUE(holds<float>(Tensor::eye(2), {1, 0, 0, 1}, {2, 2}));
  EXPECT_TRUE(holds<float>(Tensor::eye(2, 3), {1, 0, 0, 0, 1, 0}, {2, 3}));
}

TEST(TensorCreation, CountingSharesIndicesWithWhatIsAround) {
  const Tensor x = Tensor::arange(6).reshape({2, 3}) * 10 + Tensor::arange(3);
  EXPECT_TRUE(holds<int>(x, {0, 11, 22, 30, 41, 52}, {2, 3}));
}

TEST(TensorCreation, ANullTensorSaysSo) {
  const Tensor nothing;
  EXPECT_TRUE(nothing.is_null());
  EXPECT_EQ(error_of([&] { nothing.relu(); }),
            "relu: a Tensor is null: it was never given a value");
}

TEST(TensorCreation, DefaultDeviceIsASetting) {
  const Context elsewhere{{"DEV", "INTERP:1"}};
  EXPECT_EQ(Tensor({1}).device(), "INTERP:1");
  const Context alias{{"DEVICE", "INTERP:2"}};
  EXPECT_EQ(default_device(), "INTERP:2");
  EXPECT_EQ(Tensor({1}, {.device = "INTERP:0"}).device(), "INTERP");
}

}  // namespace
}  // namespace weft
