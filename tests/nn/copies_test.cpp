// Copies of models.

#include "../tensor/tensor_test.h"

namespace weft {
namespace {

struct Tied {
  nn::Linear in{2, 3}, out{2, 3};
  nn::BatchNorm norm{3};
  Tied() { out.weight = in.weight; }
  Tensor operator()(const Tensor& x) const { return norm(in(x) + out(x)); }
  WEFT_FIELDS(in, out, norm);
};

TEST(Copies, PlainOnesHaveTheSameTensors) {
  const nn::Linear linear(2, 2), copy = linear;
  EXPECT_TRUE(copy.weight.is(linear.weight));
}

TEST(Copies, ClonesHaveTheirOwn) {
  const Tied model;
  const Tied copy = nn::clone(model);
  const Tensor x({{1.0F, 2.0F}});
  EXPECT_TRUE(copy(x).allclose(model(x)));
  EXPECT_TRUE(copy.out.weight.is(copy.in.weight));
  EXPECT_TRUE(copy.in.weight.requires_grad());
  EXPECT_FALSE(copy.norm.running_mean.requires_grad());
  const std::vector<float> before = model.in.weight.to_vector<float>();
  copy.in.weight.detach().fill(7);
  Tensor(copy.norm.running_mean).fill(5);
  EXPECT_EQ(model.in.weight.to_vector<float>(), before);
  EXPECT_TRUE(holds<float>(model.norm.running_mean, {0, 0, 0}, {3}));
  copy(x).sum().backward();
  EXPECT_TRUE(model.in.weight.grad().is_null());
}

TEST(Copies, CastOnesLearnInTheModel) {
  const Tied model;
  const Tied half = nn::cast(model, dtypes::f16);
  const Tensor x = Tensor({{1.0F, 2.0F}, {3.0F, -1.0F}}, {.dtype = dtypes::f16});
  const Training training;
  const Tensor y = half(x);
  EXPECT_EQ(half.in.weight.dtype(), dtypes::f16);
  EXPECT_EQ(y.dtype(), dtypes::f16);
  (y.to_float() * Tensor({1.0F, 2.0F, 3.0F})).square().sum().backward();
  EXPECT_EQ(model.norm.weight.grad().dtype(), dtypes::f32);
  EXPECT_TRUE(near(model.norm.weight.grad(), {4, 16, 36}, {3}, 1e-2));
  EXPECT_EQ(model.norm.num_batches_tracked.item<int>(), 1);
}

TEST(Copies, AveragesFollow) {
  const Tied model;
  model.in.weight.detach().fill(1);
  nn::EMA ema(model, 0.9);
  model.in.weight.detach().fill(2);
  Tensor(model.norm.running_mean).fill(3);
  ema.update(model);
  ema.update(model);
  EXPECT_TRUE(near(ema.model.in.weight, std::vector<double>(6, 1.19), {3, 2}));
  EXPECT_TRUE(holds<float>(ema.model.norm.running_mean, {3, 3, 3}, {3}));
  EXPECT_TRUE(get_state_dict(ema).contains("model.in.weight"));
}

struct Sharing {
  std::shared_ptr<nn::Linear> linear = std::make_shared<nn::Linear>(2, 2);
  WEFT_FIELDS(linear);
};

TEST(Copies, AreRefusedOfWhatIsShared) {
  EXPECT_EQ(
      error_of([] { nn::clone(Sharing{}); }),
      "clone: a copy of this model has some of its members, not copies of them (a shared_ptr?)");
}

}  // namespace
}  // namespace weft
