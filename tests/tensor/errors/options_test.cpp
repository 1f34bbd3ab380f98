// Wrong calls of negative padding, dtypes to compute in, and functions with parameters.

#include "table.h"

namespace weft {
namespace {

namespace F = functional;

TEST(TensorErrors, NegativePadding) {
  const Tensor x = of({1, 4, 5, 5}), w = of({2, 4, 3, 3});
  const WrongCall calls[] = {
      {"conv", [&] { x.conv(w, {}, {.padding = -2}); },
       "conv: a kernel of 3 with dilation 1 does not fit in 1 elements"},
      {"conv2d, all of it", [&] { x.conv2d(w, {}, 1, 1, 1, -3); },
       "conv2d: padding of -3 and -3 takes more than axis 2 of shape (1, 4, 5, 5) has"},
      {"conv, one side", [&] { x.conv(w, {}, {.padding = {{0, 0}, {-6, 4}}}); },
       "conv: padding of -6 and 4 takes more than axis 3 of shape (1, 4, 5, 5) has"},
      {"max_pool", [&] { x.max_pool({3, 3}, {.padding = -1}); },
       "max_pool: padding of -1 and -1 is negative"},
      {"avg_pool", [&] { x.avg_pool({3, 3}, {.padding = {{1, 1}, {0, -1}}}); },
       "avg_pool: padding of 0 and -1 is negative"},
      {"max_unpool", [&] { F::max_unpool(x, x.cast(dtypes::i32), {2, 2}, 2, -1); },
       "max_unpool: padding of -1 and -1 is negative"},
      {"max_unpool1d", [&] { F::max_unpool1d(x, x.cast(dtypes::i32), {2, 2}); },
       "max_unpool1d: 2 numbers for 1 spatial dimensions"},
      {"lp_pool1d", [&] { F::lp_pool1d(x, 2, {2, 2}); },
       "lp_pool1d: 2 numbers for 1 spatial dimensions"},
      {"unfold", [&] { F::unfold(x, {3, 3}, {.padding = -1}); },
       "unfold: padding of -1 and -1 is negative"},
      {"fold", [&] { F::fold(of({1, 36, 1}), {5, 5}, {3, 3}, {.padding = -1}); },
       "fold: padding of -1 and -1 is negative"},
      {"pad", [&] { x.pad({-6, 9}); },
       "pad: from 6 to 5 is no part of axis 3 of shape (1, 4, 5, 5)"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, DtypesToComputeIn) {
  const Tensor x = of({2, 3});
  const WrongCall calls[] = {
      {"softmax", [&] { x.softmax(-1, dtypes::i32); }, "softmax: i32 is no float"},
      {"softmin", [&] { x.softmin(-1, dtypes::i8); }, "softmin: i8 is no float"},
      {"log_softmax", [&] { x.log_softmax(-1, dtypes::bool_); }, "log_softmax: bool is no float"},
      {"softmax, axis", [&] { x.softmax(2, dtypes::f64); },
       "softmax: there is no axis 2 in a tensor of 2 axes"},
      {"linear", [&] { x.linear(of({2, 3}), {}, dtypes::f64); },
       "linear: shapes (2, 3) and (2, 3): 3 does not match 2"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, Calls) {
  const Tensor x = of({2, 3}), y = of({3});
  const WrongCall calls[] = {
      {"as_param, slot", [&] { x.as_param(-1); }, "as_param: the slot is -1, below 0"},
      {"call, inputs", [&] { Tensor::call({x}, x.as_param(0) + x.as_param(1)); },
       "call: the function has a parameter 1, and there are 1 inputs"},
      {"call, shape", [&] { Tensor::call({y}, x.as_param(0) + 1); },
       "call: input 0 is f32 of shape (3,), its parameter f32 of shape (2, 3)"},
      {"call, dtype", [&] { Tensor::call({x.cast(dtypes::f64)}, x.as_param(0) + 1); },
       "call: input 0 is f64 of shape (2, 3), its parameter f32 of shape (2, 3)"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
