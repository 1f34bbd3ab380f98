// Wrong calls of what searches and counts.

#include "table.h"

namespace weft {
namespace {

TEST(TensorErrors, Searching) {
  const Tensor x = of({3, 4}), numbers({0, 2});
  const WrongCall calls[] = {
      {"searchsorted", [&] { x.searchsorted(of({2, 5})); },
       "searchsorted: values of shape (2, 5) have other rows than those of shape (3, 4)"},
      {"searchsorted, in none", [&] { Tensor(1.0).searchsorted(x); },
       "searchsorted: a scalar has no order to search in"},
      {"bincount", [&] { x.bincount(); }, "bincount: the index is f32, not an integer"},
      {"bincount, axes", [&] { values({{1}}).bincount(); },
       "bincount: a tensor of shape (1, 1) has not one axis"},
      {"bincount, negative", [&] { values({1, -3}).bincount(); }, "bincount: -3 is negative"},
      {"bincount, weights", [&] { numbers.bincount(x); },
       "bincount: weights of shape (3, 4) for elements of shape (2,)"},
      {"histc", [&] { numbers.histc(); }, "histc: of i32: only floats fall between edges"},
      {"histc, range", [&] { x.histc(4, 2, 1); }, "histc: from 2 to 1 is no range"},
      {"histogram", [&] { x.histogram(0); }, "histogram: 0 bins: want at least 1"},
      {"histogram, edges", [&] { x.histogram(values({1.0})); }, "histogram: fewer than two edges"},
      {"histogram, weight", [&] { x.histogram(2, {}, values({1.0})); },
       "histogram: weights of shape (1,) for elements of shape (3, 4)"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
