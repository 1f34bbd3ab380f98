// What golden cases do not say of functions and dtypes.

#include <limits>

#include "tensor_test.h"

namespace weft {
namespace {

TEST(TensorDTypes, Limits) {
  using Float = std::numeric_limits<float>;
  EXPECT_EQ(finfo(dtypes::f32).max, static_cast<double>(Float::max()));
  EXPECT_EQ(finfo(dtypes::f32).min, -static_cast<double>(Float::max()));
  EXPECT_EQ(finfo(dtypes::f32).eps, static_cast<double>(Float::epsilon()));
  EXPECT_EQ(finfo(dtypes::f32).tiny, static_cast<double>(Float::min()));
  EXPECT_EQ(finfo(dtypes::f32).smallest_subnormal, static_cast<double>(Float::denorm_min()));
  EXPECT_EQ(finfo(dtypes::f64).max, std::numeric_limits<double>::max());
  EXPECT_EQ(finfo(dtypes::f16).max, 65504);
  EXPECT_EQ(finfo(dtypes::f16).tiny, 0x1p-14);
  EXPECT_EQ(finfo(dtypes::bf16).eps, 0x1p-7);
  EXPECT_EQ(finfo(dtypes::f8e4m3).max, 448);
  EXPECT_EQ(finfo(dtypes::f8e5m2).max, 57344);
  EXPECT_EQ(finfo(dtypes::f8e5m2).bits, 8);
  EXPECT_EQ(iinfo(dtypes::i8).min, -128);
  EXPECT_EQ(iinfo(dtypes::i64).max, 0x7fffffffffffffffU);
  EXPECT_EQ(iinfo(dtypes::i64).min, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(iinfo(dtypes::u64).max, ~0ULL);
  EXPECT_EQ(iinfo(dtypes::u16).min, 0);
  EXPECT_EQ(iinfo(dtypes::bool_).max, 1U);
}

TEST(TensorDTypes, OfTensors) {
  const Tensor half = Tensor::ones({2}, {.dtype = dtypes::f16}), whole({1, 2});
  EXPECT_EQ(half.element_size(), 2U);
  EXPECT_EQ(whole.to_long().element_size(), 8U);
  EXPECT_TRUE(half.is_floating_point());
  EXPECT_FALSE(whole.is_floating_point());
  EXPECT_EQ(Tensor::result_type(half, whole), dtypes::f16);
  EXPECT_EQ(Tensor::result_type(whole, 0.5), dtypes::f32);
  EXPECT_EQ(Tensor::result_type(whole.to_bool(), 2), dtypes::i32);
}

// By 1 in the last place, at every step between two signs.
TEST(TensorFunctions, NeighboursInOrder) {
  Tensor x = Tensor({-1e-45F}, {.dtype = dtypes::f32});
  for (const float expected : {-0.0F, 1e-45F, 3e-45F}) {
    x = x.nextafter(1.0);
    EXPECT_EQ(x.item<float>(), expected);
  }
}

TEST(TensorFunctions, SignOfZeroHasNoGradient) {
  const Tensor x({-2.0, 0.0, 3.0});
  EXPECT_TRUE(holds<float>(x.sign().sum().gradient({x})[0], {0, 0, 0}, {3}));
}

}  // namespace
}  // namespace weft
