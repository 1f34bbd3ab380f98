// Building nodes: the dtypes that follow, the operators, and what is refused.

#include <weft/dev/ir/uop.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

#include "../support/errors.h"

namespace weft {
namespace {

using namespace dtypes;

UOp value(DType dtype) { return make(Op::Custom, {}, dtype, CustomArg{Symbol(dtype.str())}); }

TEST(Make, InfersTheDtype) {
  const UOp i = value(i32), f = value(f32), v = value(f32.vec(4)), b = value(bool_);
  const UOp tile = value(DType::fragment("tile"));
  const struct {
    UOp node;
    DType dtype;
  } cases[] = {
      {make(Op::Add, {i, i}), i32},
      {make(Op::Sqrt, {v}), f32.vec(4)},
      {make(Op::MulAcc, {f, f, f}), f32},
      {make(Op::CmpLt, {i, i}), bool_},
      {make(Op::CmpNe, {v, v}), bool_.vec(4)},
      {make(Op::Where, {b, f, f}), f32},
      {make(Op::Where, {make(Op::CmpLt, {v, v}), v, v}), f32.vec(4)},
      {make(Op::Cast, {f}, u8), u8},
      {make(Op::Stack, {i, i, i}), i32.vec(3)},
      {make(Op::Stack, {i}), i32},
      {make(Op::Lane, {v}, {}, PositionArg{2}), f32},
      {make(Op::Splat, {i}, i32.vec(8)), i32.vec(8)},
      {make(Op::Index, {f, b, i, i}), f32},
      {make(Op::Index, {v, b, i}), f32.vec(4)},
      {make(Op::Index, {f, b, i, value(i32.vec(8))}), f32.vec(8)},
      {make(Op::Index, {f, value(bool_.vec(8)), i}), f32.vec(8)},
      {make(Op::Tuple, {i, f}), void_},
      {make(Op::Remat, {v}, {}, IdArg{}), f32.vec(4)},
      {make(Op::Mma, {tile, tile, tile}, tile->dtype(), NameArg{}), tile->dtype()},
      // What is given counts only where the op leaves it open.
      {make(Op::Add, {i, i}, f64), i32},
  };
  for (const auto& [node, dtype] : cases)
    EXPECT_EQ(node->dtype(), dtype) << expression_text(node.node());
}

TEST(Make, RefusesWhatTheTableDoesNotAllow) {
  const UOp i = value(i32), j = value(i64), f = value(f32), v = value(i32.vec(4)), b = value(bool_);
  const UOp tile = value(DType::fragment("tile"));
  const struct {
    std::function<UOp()> make;
    std::string_view error;
  } cases[] = {
      {[&] { return make(Op::Add, {i}); }, "add: 1 sources, but it takes 2"},
      {[&] { return make(Op::Neg, {i, i}); }, "neg: 2 sources, but it takes 1"},
      {[&] { return make(Op::Load, std::vector<UOp>{}); },
       "load: 0 sources, but it takes at least 1"},
      {[&] { return i + j; }, "add: dtypes i32 and i64 differ"},
      {[&] { return i < v; }, "cmplt: dtypes i32 and i32x4 differ"},
      {[&] { return where(b, i, f); }, "where: dtypes i32 and f32 differ"},
      {[&] { return where(i, i, i); }, "where: the condition is i32, not bool"},
      {[&] { return make(Op::Shl, {f, f}); }, "shl: not for f32, only for integers"},
      {[&] { return make(Op::Sqrt, {i}); }, "sqrt: not for i32, only for floats"},
      {[&] { return b / b; }, "floordiv: not for bool, only for integers"},
      {[&] { return f & f; }, "and: not for f32, only for integers and bools"},
      {[&] { return make(Op::Threefry, {j, j}); }, "threefry: not for i64, only for u64"},
      {[&] { return make(Op::Stack, {i, j}); }, "stack: dtypes i32 and i64 differ"},
      {[&] { return make(Op::Stack, {v, v}); }, "stack: i32x4 is not the dtype of a lane"},
      {[&] { return make(Op::Stack, {tile}); }, "stack: fragment<tile> is not the dtype of a lane"},
      {[&] { return make(Op::Stack, {tuple({})}); }, "stack: void is not the dtype of a lane"},
      {[&] { return make(Op::Index, {f, b, v, value(i32.vec(8))}); },
       "index: indices of 4 and 8 lanes"},
      {[&] { return make(Op::Index, {v, b, v}); },
       "index: a buffer of i32x4 takes one index for each dimension, not 4 lanes"},
      {[&] { return make(Op::Stack, std::vector<UOp>(4097, i)); },
       "stack: 4097 sources, but a vector has at most 4096 lanes"},
      {[&] { return make(Op::Range, {i}, {}, IdArg{}); },
       "range: the arg is not the op's own struct"},
      {[&] { return make(Op::Remat, {i}); }, "remat: the arg is not the op's own struct"},
      {[&] { return make(Op::Add, {i, UOp()}); }, "add: a source is a null handle"},
      {[&] { return !i; }, "!: the operand is i32, not bool"},
      {[&] { return Variable("n", 3, 2); }, "variable n: the bounds 3 and 2 hold nothing"},
      {[&] { return Variable("n", 0, 128, i8); },
       "variable n: the bounds 0 and 128 are not among -128 to 127, what variables of i8 can hold"},
      {[&] { return Variable("n", -1, 1, u64); },
       "variable n: the bounds -1 and 1 are not among 0 to 9223372036854775807, what variables of "
       "u64 can hold"},
      {[&] { return Variable("n", 0, static_cast<std::int64_t>(1ull << 63), u64); },
       "variable n: the bounds 0 and -9223372036854775808 are not among 0 to 9223372036854775807, "
       "what variables of u64 can hold"},
  };
  for (const auto& [make, error] : cases) EXPECT_EQ(error_of(make), error);
}

TEST(Operators, ChooseTheOpByTheDtype) {
  const UOp i = value(i32), f = value(f32), b = value(bool_);
  EXPECT_EQ((i / i)->op(), Op::FloorDiv);
  EXPECT_EQ((i % i)->op(), Op::FloorMod);
  EXPECT_EQ((f / f)->op(), Op::Div);
  EXPECT_EQ((f % f)->op(), Op::Mod);
  EXPECT_TRUE((i > i + 1).is(i + 1 < i));
  EXPECT_TRUE((!b).is(b != const_bool(true)));
  EXPECT_TRUE(cast(i, i32).is(i));
  EXPECT_TRUE(bitcast(i, i32).is(i));
  EXPECT_EQ(cast(i, f32)->op(), Op::Cast);
  EXPECT_EQ(bitcast(i, f32)->op(), Op::Bitcast);
}

TEST(Operators, TakeLiteralsOfTheOtherDtype) {
  const UOp i = value(i8), f = value(f16), v = value(u32.vec(2));
  EXPECT_TRUE((i + 300).is(i + const_int(44, i8)));
  EXPECT_TRUE((2 - i).is(const_int(2, i8) - i));
  EXPECT_TRUE((f * 3).is(f * const_float(3, f16)));
  EXPECT_TRUE((0.1 < f).is(const_float(0.1, f16) < f));
  EXPECT_TRUE((v & 7).is(v & const_int(7, u32.vec(2))));
  EXPECT_EQ(error_of([&] { return i * 0.5; }),
            "the literal 0.5 meets a value of i8, which cannot hold it: cast first");
}

// With every pair of values that matters: NaN is neither less, nor equal, nor greater.
TEST(Operators, CompareAndLimitByValue) {
  const auto result = [](const UOp& node) { return *evaluate(node.node(), {}); };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (double x : {-1.0, 0.0, 2.0, nan})
    for (double y : {-1.0, 0.0, 2.0, nan}) {
      SCOPED_TRACE(testing::Message() << x << " and " << y);
      const UOp a = const_float(x, f32), b = const_float(y, f32);
      EXPECT_EQ(result(a < b), x < y);
      EXPECT_EQ(result(a > b), x > y);
      EXPECT_EQ(result(a <= b), x <= y);
      EXPECT_EQ(result(a >= b), x >= y);
      EXPECT_EQ(result(a == b), x == y);
      EXPECT_EQ(result(a != b), x != y);
      const double least = double_from_bits(result(min(a, b)), f32);
      const double most = double_from_bits(result(max(a, b)), f32);
      if (std::isnan(x) || std::isnan(y)) {
        EXPECT_TRUE(std::isnan(least) && std::isnan(most));
      } else {
        EXPECT_EQ(least, std::min(x, y));
        EXPECT_EQ(most, std::max(x, y));
      }
    }
  for (std::int64_t x : {-128, -1, 0, 127})
    for (std::int64_t y : {-128, -1, 0, 127}) {
      const UOp a = const_int(x, i8), b = const_int(y, i8);
      EXPECT_EQ(result(a <= b), x <= y);
      EXPECT_EQ(result(a >= b), x >= y);
      EXPECT_EQ(int_from_bits(result(min(a, b)), i8), std::min(x, y));
      EXPECT_EQ(int_from_bits(result(max(a, b)), i8), std::max(x, y));
    }
}

TEST(Const, HoldsOneFormOfEachValue) {
  EXPECT_TRUE(const_bits(i8, 0x180).is(const_bits(i8, 0x80)));
  EXPECT_TRUE(const_bits(i8, 0x80).is(const_int(-128, i8)));
  EXPECT_TRUE(const_bits(u8, 0x1ff).is(const_int(255, u8)));
  EXPECT_TRUE(const_bits(f16, 0xffff3c00).is(const_float(1, f16)));
  EXPECT_TRUE(const_bits(bool_, 2).is(const_bool(true)));
  EXPECT_TRUE(const_int(7)->is_const_int(7));
  EXPECT_FALSE(const_int(7)->is_const_int(8));
  EXPECT_FALSE(const_float(0, f32)->is_const_int(0));
  EXPECT_FALSE(value(i32)->is_const_int(0));
}

}  // namespace
}  // namespace weft
