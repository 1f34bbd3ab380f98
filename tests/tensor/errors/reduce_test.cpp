// Wrong calls of reductions.

#include "table.h"

namespace weft {
namespace {

TEST(TensorErrors, AxesOfReductions) {
  const Tensor x = of({2, 3});
  const WrongCall calls[] = {
      {"sum", [&] { x.sum(2); }, "sum: there is no axis 2 in a tensor of 2 axes"},
      {"sum, twice", [&] { x.sum({1, -1}); }, "sum: axis -1 is given twice"},
      {"sum, of a scalar", [&] { Tensor(1.0).sum(1); },
       "sum: there is no axis 1 in a tensor of 0 axes"},
      {"prod", [&] { x.prod(-3); }, "prod: there is no axis -3 in a tensor of 2 axes"},
      {"max", [&] { x.max({0, 0}); }, "max: axis 0 is given twice"},
      {"min", [&] { x.min(2); }, "min: there is no axis 2 in a tensor of 2 axes"},
      {"any", [&] { x.any(2); }, "any: there is no axis 2 in a tensor of 2 axes"},
      {"all", [&] { x.all({0, 0}); }, "all: axis 0 is given twice"},
      {"mean", [&] { x.mean(2); }, "mean: there is no axis 2 in a tensor of 2 axes"},
      {"var", [&] { x.var(2); }, "var: there is no axis 2 in a tensor of 2 axes"},
      {"std", [&] { x.std({1, 1}); }, "std: axis 1 is given twice"},
      {"var_mean", [&] { x.var_mean(2); }, "var_mean: there is no axis 2 in a tensor of 2 axes"},
      {"std_mean", [&] { x.std_mean(2); }, "std_mean: there is no axis 2 in a tensor of 2 axes"},
      {"aminmax", [&] { x.aminmax(2); }, "aminmax: there is no axis 2 in a tensor of 2 axes"},
      {"nansum", [&] { x.nansum(2); }, "nansum: there is no axis 2 in a tensor of 2 axes"},
      {"nanmean", [&] { x.nanmean({1, -1}); }, "nanmean: axis -1 is given twice"},
      {"argmax", [&] { x.argmax(2); }, "argmax: there is no axis 2 in a tensor of 2 axes"},
      {"argmin", [&] { x.argmin(-3); }, "argmin: there is no axis -3 in a tensor of 2 axes"},
      {"logsumexp", [&] { x.logsumexp(2); }, "logsumexp: there is no axis 2 in a tensor of 2 axes"},
      {"softmax", [&] { x.softmax(2); }, "softmax: there is no axis 2 in a tensor of 2 axes"},
      {"log_softmax", [&] { x.log_softmax(-3); },
       "log_softmax: there is no axis -3 in a tensor of 2 axes"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, ReductionsOfNothing) {
  const Tensor none = of({2, 0});
  const WrongCall calls[] = {
      {"max", [&] { none.max(); }, "max: axis 1 of shape (2, 0) has no elements"},
      {"max, of an axis", [&] { none.max({0, 1}); }, "max: axis 1 of shape (2, 0) has no elements"},
      {"min", [&] { none.min(-1); }, "min: axis 1 of shape (2, 0) has no elements"},
      {"aminmax", [&] { none.aminmax(1); }, "aminmax: axis 1 of shape (2, 0) has no elements"},
      {"argmax", [&] { none.argmax(); }, "argmax: axis 1 of shape (2, 0) has no elements"},
      {"argmin", [&] { none.argmin(1); }, "argmin: axis 1 of shape (2, 0) has no elements"},
  };
  expect_errors(calls);
  EXPECT_EQ(none.max(0).shape(), (Sizes64{0}));
  EXPECT_EQ(none.argmax(0).shape(), (Sizes64{0}));
  EXPECT_EQ(none.softmax(1).shape(), (Sizes64{2, 0}));
  EXPECT_EQ(none.log_softmax(1).shape(), (Sizes64{2, 0}));
}

TEST(TensorErrors, DtypesOfReductions) {
  const Tensor x = of({2, 3}), whole({1, 2});
  const WrongCall calls[] = {
      {"gradient, of integers", [&] { whole.prod().gradient({x}); },
       "gradient: a tensor of i64 has no gradient"},
      {"gradient, for integers", [&] { whole.cast(dtypes::f32).sum().gradient({whole}); },
       "gradient: a tensor of i32 has no gradient"},
      {"gradient, of places", [&] { x.argmax(1).gradient({x}); },
       "gradient: a tensor of i32 has no gradient"},
  };
  expect_errors(calls);
  EXPECT_TRUE(x.sum({}, false, dtypes::bool_).item<bool>());
  EXPECT_TRUE(whole.prod({}, false, dtypes::bool_).item<bool>());
}

}  // namespace
}  // namespace weft
