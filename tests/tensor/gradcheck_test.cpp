#include <algorithm>
#include <sstream>

#include "tensor_test.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;

Tensor f64(const std::vector<double>& values) { return Tensor(values, {.dtype = dtypes::f64}); }

// exp, with a gradient that is `factor` times what it should be.
Tensor::Forward exp_times(double factor) {
  return [=](const Tensors& in) {
    return Tensor::custom(
        in, [](const Tensors& x) { return x[0].exp(); },
        [=](const Tensor& gradient, const Tensors&, const Tensor& output) {
          return Tensors{gradient * output * factor};
        });
  };
}

TEST(Gradchecks, AgreeWithWhatIsRight) {
  const Gradcheck check = gradcheck([](const Tensors& in) { return in[0].sin() * in[1]; },
                                    {f64({0.5, -1, 2}), f64({3, 1, -4})});
  EXPECT_TRUE(check) << check;
  EXPECT_EQ(check.compared, 6);
  EXPECT_LT(check.max_absolute_error, 1e-7);  // eps^2 / 6 of a third derivative below 6
  EXPECT_LT(check.max_relative_error, 1e-7);
}

TEST(Gradchecks, FindAWrongGradient) {
  EXPECT_TRUE(gradcheck(exp_times(1), {f64({0, 1, 2})}));
  const Gradcheck check = gradcheck(exp_times(1.25), {f64({0, 1, 2})});
  EXPECT_FALSE(check);
  EXPECT_NEAR(check.max_relative_error, 0.2, 1e-4);  // of the larger of both
  EXPECT_NEAR(check.gradient / check.difference, 1.25, 1e-6);
}

TEST(Gradchecks, FindAGradientThatIsMissing) {
  const auto missing = [](const Tensors& in) { return in[0] * in[1].detach(); };
  const Gradcheck check = gradcheck(missing, {f64({2, 3}), f64({5, 0.25})});
  EXPECT_FALSE(check);
  EXPECT_EQ(check.input, 1U);
  EXPECT_EQ(check.gradient, 0);
}

TEST(Gradchecks, SayWhereItIsWrong) {
  const auto wrong_at_2 = [](const Tensors& in) {
    const Tensor right = in[1].reshape({4}), wrong = right.detach();
    return Tensor::cat({right[{Slice{0, 2}}], wrong[{Slice{2, 3}}], right[{Slice{3, 4}}]}).square();
  };
  const Gradcheck check = gradcheck(wrong_at_2, {Tensor(3), f64({1, 2, 3, 4}).reshape({2, 2})});
  EXPECT_EQ(check.input, 1U) << check;
  EXPECT_EQ(check.element, 2) << check;
  EXPECT_EQ(check.compared, 4);
}

// Equal weights would add up to 0 what softmax gives to one element and takes from others.
TEST(Gradchecks, WeightOutputsDifferently) {
  const auto constant = [](const Tensors& in) { return in[0].softmax().detach() + in[0] * 0; };
  EXPECT_FALSE(gradcheck(constant, {f64({1, 2, 3})}));
  const auto softmax = [](const Tensors& in) { return in[0].softmax(); };
  EXPECT_TRUE(gradcheck(softmax, {f64({1, 2, 3})}));
}

TEST(Gradchecks, TakeNoMoreElementsThanTheyAreTold) {
  const Tensor x = Tensor::linspace(-1, 1, 50, {.dtype = dtypes::f64});
  const auto square = [](const Tensors& in) { return in[0].square() * in[1]; };
  EXPECT_EQ(gradcheck(square, {x, f64({2})}, {.samples = 7}).compared, 8);
  int calls = 0;
  const auto counted = [&](const Tensors& in) { return ++calls, in[0].square(); };
  EXPECT_TRUE(gradcheck(counted, {x}, {.samples = 3}));
  EXPECT_EQ(calls, 7);
}

TEST(Gradchecks, InputsStayAsTheyAre) {
  const Tensor x = f64({1, 2}).set_requires_grad(), index = Tensor({1, 0, 1});
  const auto gather = [](const Tensors& in) { return in[0].take(in[1]).square(); };
  EXPECT_TRUE(gradcheck(gather, {x, index, Tensor()}));
  EXPECT_TRUE(holds<double>(x, {1, 2}, {2}));
  EXPECT_TRUE(x.grad().is_null());
}

TEST(Gradchecks, OfNothingAndOfScalars) {
  const auto square = [](const Tensors& in) { return in[0].square(); };
  EXPECT_EQ(gradcheck(square, {Tensor::ones({0}, {.dtype = dtypes::f64})}).compared, 0);
  EXPECT_TRUE(gradcheck(square, {Tensor(-3.0, {.dtype = dtypes::f64})}));
}

TEST(Gradchecks, OfF32WithinItsDigits) {
  const auto cubes = [](const Tensors& in) { return in[0].pow(3); };
  const Tensor x({0.3f, -1.7f, 2.9f});
  EXPECT_FALSE(gradcheck(cubes, {x}, {.eps = 1e-6}));
  EXPECT_TRUE(gradcheck(cubes, {x}, {.eps = 1e-2, .rtol = 2e-3}));
}

TEST(Gradchecks, WhatIsNoNumberIsWrong) {
  const auto root = [](const Tensors& in) { return in[0].sqrt(); };
  const Gradcheck check = gradcheck(root, {f64({4, 0})});
  EXPECT_FALSE(check);
  EXPECT_EQ(check.element, 1);
  EXPECT_EQ(check.max_relative_error, std::numeric_limits<double>::infinity());
}

TEST(Gradchecks, Print) {
  const auto square = [](const Tensors& in) { return in[0].square(); };
  std::ostringstream text;
  text << gradcheck(square, {f64({3})}, {.eps = 0.5});  // of which the difference is exact
  EXPECT_EQ(text.str(),
            "right, 1 element compared: absolute error 0.00e+00, relative 0.00e+00; at input 0, "
            "element 0 the gradient is 6, the difference 6");
}

TEST(Gradchecks, WrongCalls) {
  const auto square = [](const Tensors& in) { return in[0].square(); };
  const Tensor x = f64({1});
  EXPECT_EQ(error_of([&] { gradcheck(square, {Tensor({1, 2})}); }),
            "gradcheck: no input holds floats: there is nothing to take a step in");
  EXPECT_EQ(error_of([&] { gradcheck(square, {x}, {.samples = 0}); }),
            "gradcheck: 0 samples, and nothing to compare");
  const std::string wanted = ": a step has to be above 0, tolerances not below";
  EXPECT_EQ(error_of([&] { gradcheck(square, {x}, {.eps = 0}); }),
            "gradcheck: eps is 0, atol 1e-05 and rtol 0.001" + wanted);
  EXPECT_EQ(error_of([&] { gradcheck(square, {x}, {.rtol = -1}); }),
            "gradcheck: eps is 0.0001, atol 1e-05 and rtol -1" + wanted);
  EXPECT_EQ(error_of([&] { gradcheck([](const Tensors& in) { return in[0] > 0; }, {x}); }),
            "gradient: a tensor of bool has no gradient");
}

}  // namespace
}  // namespace weft
