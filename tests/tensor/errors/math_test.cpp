// Wrong calls of functions of each element, reductions and scans.

#include <cmath>

#include "table.h"

namespace weft {
namespace {

TEST(TensorErrors, Functions) {
  const Tensor x = of({2, 3}), four = of({4}), whole({1, 2});
  const Tensor bools({true, false}), null, elsewhere = of({2, 3}, {.device = "NULL"});
  const Tensor small({1, 2}, {.dtype = dtypes::u8});
  const std::string wraps =
      " is not a value of u8, where it would wrap around: cast the tensor or the number first";
  const std::string apart = ": shapes (2, 3) and (4,) do not broadcast: 3 does not match 4";
  const WrongCall calls[] = {
      {"atan2", [&] { x.atan2(four); }, "atan2" + apart},
      {"hypot", [&] { x.hypot(four); }, "hypot" + apart},
      {"copysign", [&] { x.copysign(four); }, "copysign" + apart},
      {"nextafter", [&] { x.nextafter(four); }, "nextafter" + apart},
      {"heaviside", [&] { x.heaviside(four); }, "heaviside" + apart},
      {"fmod", [&] { x.fmod(four); }, "fmod" + apart},
      {"isclose", [&] { x.isclose(four); }, "isclose" + apart},
      {"allclose", [&] { x.allclose(four); }, "allclose" + apart},
      {"isclose, tolerance", [&] { x.isclose(x, -1); },
       "isclose: tolerances of -1 and 1e-08: want at least 0"},
      {"hypot, another device", [&] { x.hypot(elsewhere); },
       "hypot: one tensor is on CPU, another on NULL: move one with to()"},
      {"floordiv", [&] { bools.floordiv(bools); }, "floordiv: not for bools"},
      {"fmod, of bools", [&] { bools.fmod(bools); }, "fmod: not for bools"},
      {"div", [&] { bools.div(bools, Tensor::Rounding::Trunc); }, "div: not for bools"},
      {"gcd", [&] { whole.gcd(values({0.5, 1.0})); }, "gcd: of i32 and f32: only for integers"},
      {"lcm", [&] { x.lcm(2); }, "lcm: of f32 and index: only for integers"},
      {"popcount", [&] { x.popcount(); }, "popcount: not for f32"},
      {"bitwise_or", [&] { x.bitwise_or(1); },
       "bitwise_or: of f32 and index: only integers and bools have bits to combine"},
      {"lshift", [&] { whole.lshift(0.5); },
       "lshift: of i32 and weak: only integers and bools have bits to combine"},
      {"clamp", [&] { x.clamp(null, null); },
       "clamp: neither a least nor a largest value is given"},
      {"%=", [&] { Tensor(x) %= of({5, 2, 3}); },
       "%=: a value of shape (5, 2, 3) does not fit a tensor of shape (2, 3)"},
      {"add", [&] { small + 300; }, "add: 300" + wraps},
      {"maximum", [&] { small.maximum(1000); }, "maximum: 1000" + wraps},
      {"where", [&] { (small == 1).where(small, -1); }, "where: -1" + wraps},
      {"clamp, beyond the dtype", [&] { small.clamp(-5, 100); }, "clamp: -5" + wraps},
      {"full", [&] { Tensor::full({2}, 256, {.dtype = dtypes::u8}); }, "full: 256" + wraps},
      {"Tensor", [&] { Tensor({1, 256}, {.dtype = dtypes::u8}); }, "Tensor: 256" + wraps},
      {"finfo", [&] { finfo(dtypes::i32); }, "finfo: i32 is no float: see iinfo for integers"},
      {"iinfo", [&] { iinfo(dtypes::f16); }, "iinfo: f16 is no integer: see finfo for floats"},
  };
  expect_errors(calls);
}

TEST(TensorErrors, ReductionsAndScans) {
  const Tensor x = of({2, 3}), none = of({2, 0});
  const UOp n = Variable("n", 1, 4);
  const WrongCall calls[] = {
      {"norm", [&] { x.norm(std::nan("")); }, "norm: p is not a number"},
      {"norm, axis", [&] { x.norm(2, 2); }, "norm: there is no axis 2 in a tensor of 2 axes"},
      {"dist", [&] { x.dist(of({4})); },
       "dist: shapes (2, 3) and (4,) do not broadcast: 3 does not match 4"},
      {"cdist", [&] { x.cdist(of({4, 2})); },
       "cdist: shapes (2, 3) and (4, 2) are not (..., points, width)"},
      {"aminmax", [&] { none.aminmax(1); }, "aminmax: axis 1 of shape (2, 0) has no elements"},
      {"cumsum", [&] { x.cumsum(2); }, "cumsum: there is no axis 2 in a tensor of 2 axes"},
      {"cumsum, of a number", [&] { Tensor(1.0).cumsum(1); },
       "cumsum: there is no axis 1 in a tensor of 1 axes"},
      {"cumprod", [&] { x.cumprod(-3); }, "cumprod: there is no axis -3 in a tensor of 2 axes"},
      {"cummax", [&] { x.cummax(2); }, "cummax: there is no axis 2 in a tensor of 2 axes"},
      {"cummin", [&] { x.cummin(2); }, "cummin: there is no axis 2 in a tensor of 2 axes"},
      {"logcumsumexp", [&] { x.logcumsumexp(2); },
       "logcumsumexp: there is no axis 2 in a tensor of 2 axes"},
      {"cumsum, symbolic", [&] { of({Dim(n), 2}).cumsum(0); },
       "cumsum: the size n is symbolic, and has to be a number here"},
      {"diff", [&] { x.diff(-1); }, "diff: -1 times: want at least 0"},
      {"diff, axis", [&] { x.diff(1, 2); }, "diff: there is no axis 2 in a tensor of 2 axes"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
