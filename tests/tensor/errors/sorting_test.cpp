// Wrong calls of what sorts, and of what is made of it.

#include "table.h"

namespace weft {
namespace {

TEST(TensorErrors, Sorting) {
  const Tensor x = of({3, 4}), none = of({0, 4}), scalar(1.5);
  const Tensor open = of({Variable("n", 1, 9), 4});
  const WrongCall calls[] = {
      {"sort", [&] { x.sort(2); }, "sort: there is no axis 2 in a tensor of 2 axes"},
      {"sort, of a scalar", [&] { scalar.sort(1); },
       "sort: there is no axis 1 in a tensor of 1 axes"},
      {"sort, of open size", [&] { open.sort(0); },
       "sort: the size n is symbolic, and has to be a number here"},
      {"argsort", [&] { x.argsort(-3); }, "argsort: there is no axis -3 in a tensor of 2 axes"},
      {"topk", [&] { x.topk(5); },
       "topk: there are 4 elements along axis -1 of shape (3, 4), not 5"},
      {"topk, negative", [&] { x.topk(-1, 0); },
       "topk: there are 3 elements along axis 0 of shape (3, 4), not -1"},
      {"topk, axis", [&] { x.topk(1, 3); }, "topk: there is no axis 3 in a tensor of 2 axes"},
      {"kthvalue, 0", [&] { x.kthvalue(0); }, "kthvalue: element 0 of 4: want 1 to 4"},
      {"kthvalue", [&] { x.kthvalue(4, 0); }, "kthvalue: element 4 of 3: want 1 to 3"},
      {"kthvalue, of none", [&] { none.kthvalue(1, 0); },
       "kthvalue: axis 0 of shape (0, 4) has no elements"},
      {"median, axis", [&] { x.median(2); }, "median: there is no axis 2 in a tensor of 2 axes"},
      {"median, of none", [&] { none.median(0); },
       "median: axis 0 of shape (0, 4) has no elements"},
      {"median, of none at all", [&] { none.median(); },
       "median: axis 0 of shape (0,) has no elements"},
      {"nanmedian", [&] { none.nanmedian(0); },
       "nanmedian: axis 0 of shape (0, 4) has no elements"},
      {"mode", [&] { none.mode(0); }, "mode: axis 0 of shape (0, 4) has no elements"},
      {"quantile", [&] { x.quantile(1.5); }, "quantile: q is 1.5: want 0 to 1"},
      {"nanquantile", [&] { x.nanquantile(-0.5); }, "nanquantile: q is -0.5: want 0 to 1"},
      {"quantile, NaN", [&] { x.quantile(NAN); }, "quantile: q is nan: want 0 to 1"},
      {"quantile, axes", [&] { x.quantile(x); },
       "quantile: q of shape (3, 4): want a number or one axis"},
      {"quantile, axis", [&] { x.quantile(0.5, 2); },
       "quantile: there is no axis 2 in a tensor of 2 axes"},
      {"quantile, of none", [&] { none.quantile(0.5, 0); },
       "quantile: axis 0 of shape (0, 4) has no elements"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
