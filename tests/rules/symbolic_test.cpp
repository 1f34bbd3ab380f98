// Integer index algebra: what simplify() makes of an expression, in infix.

#include <weft/dev/rules/symbolic.h>

#include <initializer_list>
#include <source_location>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/dev/ir/text.h>

namespace weft {
namespace {

using namespace dtypes;

struct Row {
  Row(const UOp& value, std::string_view expected,
      std::source_location where = std::source_location::current())
      : value(value), expected(expected), line(where.line()) {}
  UOp value;
  std::string_view expected;
  unsigned line;
};

void check(std::initializer_list<Row> rows) {
  for (const Row& row : rows)
    EXPECT_EQ(expression_text(simplify(row.value).node()), row.expected)
        << "line " << row.line << ": " << expression_text(row.value.node());
}

class Symbolic : public testing::Test {
 protected:
  static UOp op(Op op, const UOp& x, const UOp& y) { return make(op, {x, y}); }
  static UOp op(Op op, const UOp& x, std::int64_t y) {
    return make(op, {x, const_int(y, x->dtype())});
  }
  static UOp real(const UOp& x) { return cast(x, f32); }

  Arena arena_;
  InternerScope scope_{arena_};
  // r0 < 16, r1 < 8, r2 < 3, r3 < 28, and a, b of both signs; n and m are sizes.
  const UOp r0 = range(16, 0), r1 = range(8, 1), r2 = range(3, 2), r3 = range(28, 3);
  const UOp a = Variable("a", -100, 100), b = Variable("b", -100, 100);
  const UOp n = Variable("n", 1, 64), m = Variable("m", 1, 64);
  const UOp k = range(n, 4);
  const UOp i = Variable("i", INT32_MIN, INT32_MAX, i32), v = Variable("v", -128, 127, i8);
  const UOp w = Variable("w", 0, 255, u8);
  const UOp p = a < 3, q = r1 < 4;
  const UOp yes = const_bool(true), no = const_bool(false);
};

TEST_F(Symbolic, Constants) {
  const auto c = [](std::int64_t value) { return const_int(value); };
  check({
      {c(2) + 3 * c(4), "14"},
      {c(-7) / 2, "-4"},
      {c(-7) % 2, "1"},
      {c(7) / -2, "-4"},
      {c(7) % -2, "-1"},
      {c(7) / 0, "0"},
      {c(7) % 0, "7"},
      {op(Op::CDiv, c(-7), 2), "-3"},
      {op(Op::CMod, c(-7), 2), "-1"},
      {op(Op::Shl, c(3), 4), "48"},
      {op(Op::Shr, c(-9), 1), "-5"},
      {op(Op::Shl, c(3), 64), "0"},
      {max(c(3), c(-3)), "3"},
      {min(c(3), c(-3)), "-3"},
      {(c(12) & 10) | 1, "9"},
      {c(12) ^ 10, "6"},
      {c(3) < 4, "true"},
      {where(c(3) == 4, a, b), "b"},
      {const_int(100, i8) + const_int(100, i8), "-56"},
      {const_int(200, u8) * const_int(2, u8), "144"},
      {const_int(INT64_MAX) + 1, "-9223372036854775808"},
      {cast(const_int(-1), u8), "255"},
      {cast(const_float(-2.9, f32), i32), "-2"},
  });
}

TEST_F(Symbolic, Identities) {
  check({
      {a + 0, "a"},
      {a - 0, "a"},
      {a * 1, "a"},
      {1 * a, "a"},
      {a * 0, "0"},
      {a / 1, "a"},
      {a % 1, "0"},
      {a - a, "0"},
      {-(-a), "a"},
      {n / n, "1"},
      {a / a, "a//a"},
      {a % a, "0"},
      {0 / a, "0"},
      {a & 0, "0"},
      {a & -1, "a"},
      {a | 0, "a"},
      {a ^ 0, "a"},
      {a ^ a, "0"},
      {max(a, a), "a"},
      {max(n, a - 200), "n"},
      {max(max(a, r0), a), "max(a, r0)"},
      {op(Op::Shl, a, 0), "a"},
      {cast(cast(r0, i32), index), "r0"},
      {cast(cast(r0, i8), i64), "cast<i64>(r0)"},
      {range(1, 9) + a, "a"},
  });
}

// Whatever a program counts places in.
TEST_F(Symbolic, PlacesAreComparedAsPlaces) {
  const UOp x = cast(r0, i64), y = cast(r1, i64), three = const_int(3, i64);
  check({
      {x < y, "r0 < r1"},
      {x + three < y, "r0 + 3 < r1"},
      {x != y, "r0 != r1"},
      {x == three, "r0 == 3"},
      {cast(r0, i32) < cast(r1, i32), "r0 < r1"},
      {cast(r0 * 100, i8) < cast(r1, i8), "cast<i8>(r0*100) < cast<i8>(r1)"},
  });
}

TEST_F(Symbolic, OneOrder) {
  check({
      {3 + a, "a + 3"},
      {r1 + r0, "r0 + r1"},
      {r2 + (r1 + (r0 + 1)), "r0 + r1 + r2 + 1"},
      {r1 * 3 + r0 * 5, "r0*5 + r1*3"},
      {r1 + r0 - (r0 + r1), "0"},
      {r1 * r0, "r0*r1"},
      {4 * r0, "r0*4"},
      {max(r1, max(const_int(5), r0)), "max(max(r0, r1), 5)"},
      {(r1 & 3) & r0, "r0 & r1 & 3"},
      {(r1 < 4) & (r0 < 5), "r0 < 5 & r1 < 4"},
      {3 == a, "a == 3"},
      {3 > a, "a < 3"},
      {r0 + (r1 + a) - r0, "a + r1"},
  });
}

TEST_F(Symbolic, SumsAndProducts) {
  check({
      {a + a, "a*2"},
      {a + a + a + a, "a*4"},
      {a * 3 + a, "a*4"},
      {a * 3 - a * 2, "a"},
      {a * 3 - a * 3, "0"},
      {a * 3 - a * 5, "a*-2"},
      {r0 * 3 + r1 + r0 * 2, "r0*5 + r1"},
      {(a + 3) + 4, "a + 7"},
      {(a - 3) + 3, "a"},
      {(a + 3) * 4, "a*4 + 12"},
      {(a + 3) * 4 - a * 4, "12"},
      {(a - 3) * 4 + 12, "a*4"},
      {a * 3 * 4, "a*12"},
      {a * 4 * r0 * 8, "a*r0*32"},
      {a * r0 - r0 * a, "0"},
      {a - r0, "a - r0"},
      {2 - a, "2 - a"},
      {-a, "neg(a)"},
      {-r0 - r1, "neg(r1) - r0"},
      {a - (r0 - r1), "a + r1 - r0"},
      {a - (a + r0), "neg(r0)"},
      {(a + r0) - a, "r0"},
      {(a + r0) * 3 - a * 3, "r0*3"},
      {r0 * 4 + r1 * 4, "(r0 + r1)*4"},
      {r0 * 4 - r1 * 4, "(r0 - r1)*4"},
      {r0 * 4 + r1 * 4 + 8, "(r0 + r1)*4 + 8"},
  });
}

TEST_F(Symbolic, QuotientsOfSums) {
  const UOp flat = r0 * 8 + r1;
  check({
      {flat / 8, "r0"},
      {flat % 8, "r1"},
      {flat / 4, "r0*2 + r1//4"},
      {flat % 4, "r1%4"},
      {flat / 16, "r0//2"},
      {flat % 16, "r0%2*8 + r1"},
      {flat / 128, "0"},
      {flat % 128, "r0*8 + r1"},
      {(flat + 8) / 8, "r0 + 1"},
      {(flat - 8) / 8, "r0 - 1"},
      {(flat - 8) % 8, "r1"},
      {(r0 * 8 + r1 + 1) / 8, "r0 + (r1 + 1)//8"},
      {(r0 * 8 + r2 + 5) / 8, "r0"},
      {(r0 * 8 + r2 + 5) % 8, "r2 + 5"},
      {(r0 * 6 + r2) / 6, "r0"},
      {(r0 * 6 + r2 * 2 + 1) / 2, "r0*3 + r2"},
      {(r0 * 6 + r2 * 2 + 1) % 2, "1"},
      {(r0 * 6 + r1 * 4) / 2, "r0*3 + r1*2"},
      {(r0 * 6 + r1 * 4) % 2, "0"},
      {a * 6 / 4, "a + a//2"},
      {a * 6 % 4, "a%2*2"},
      {a * 4 / 6, "a*2//3"},
      {(a * 4 + 2) % 4, "2"},
      {(r0 * 28 + r3) / 28 % 16, "r0"},
      {((r0 * 8 + r1) * 3 + r2) / 24, "r0"},
      {((r0 * 8 + r1) * 3 + r2) / 3 % 8, "r1"},
      {((r0 * 8 + r1) * 3 + r2) % 3, "r2"},
      {((r0 * 8 + r1) * 3 + r2) % 24, "r1*3 + r2"},
  });
}

TEST_F(Symbolic, NestedQuotients) {
  check({
      {a / 4 / 3, "a//12"},
      {(a / 4 + 1) / 3, "(a + 4)//12"},
      {a % 12 / 4, "a//4%3"},
      {a % 12 % 4, "a%4"},
      {a % 4 % 12, "a%4"},
      {(a % 12 + r0) % 4, "(a + r0)%4"},
      {(a * 5 % 7) % 7, "a*5%7"},
      {a % 4 / 4, "0"},
      {(a + 28) % 7, "a%7"},
      {(a * 8 + r0) % 8, "r0%8"},
      {r3 % 28, "r3"},
      {r3 / 28, "0"},
      {(r3 + 28) / 28, "1"},
      {(r3 + 28) % 28, "r3"},
      {(r3 - 28) / 28, "-1"},
      {(r3 + 13) / 56, "0"},
      {(a / 2 * 2) / 2, "a//2"},
      {(a * 2 + 1) / 2 % 8, "a%8"},
      {op(Op::Shr, a, 3) / 2, "(a >> 3)//2"},
  });
}

TEST_F(Symbolic, NegativeNumbers) {
  check({
      {a / -1, "neg(a)"},
      {a % -1, "0"},
      {a / -4, "neg(a)//4"},
      {(a * -4) / 4, "neg(a)"},
      {(a * -4) % 4, "0"},
      {(0 - r1) / 8, "neg(r1)//8"},
      {(7 - r1) / 8, "0"},
      {(7 - r1) % 8, "7 - r1"},
      {(8 - r1) % 8, "neg(r1)%8"},
      {(100 - r1) / 4, "(100 - r1)//4"},
      {(r1 + 1) / 4 + 2, "(r1 + 9)//4"},
      {(r0 * -8 + r1) / 8, "neg(r0)"},
      {(r0 * -8 - r1 - 1) / 8, "-1 - r0"},
      {(r0 * 7) % 8, "r0*7%8"},
      {(r1 * 7 + 7) % 8, "7 - r1"},
      {(r1 * -1 + 7) / 4, "(7 - r1)//4"},
      {op(Op::CDiv, r0, 4), "r0//4"},
      {op(Op::CMod, r0, 4), "r0%4"},
      {op(Op::CDiv, a, 4), "cdiv(a, 4)"},
      {op(Op::CMod, a, 4), "cmod(a, 4)"},
      {op(Op::CDiv, r0 * 4 + r2, 4), "r0"},
  });
}

TEST_F(Symbolic, QuotientMeetsItsRemainder) {
  check({
      {a / 8 * 8 + a % 8, "a"},
      {a % 8 + a / 8 * 8, "a"},
      {a / 8 * 24 + a % 8 * 3, "a*3"},
      {a - a / 8 * 8, "a%8"},
      {(a / 8 + r1) * 8 + a % 8, "a + r1*8"},
      {a / 8 % 4 * 8 + a % 8, "a%32"},
      {a / 32 * 32 + a / 8 % 4 * 8 + a % 8, "a"},
      {r0 + a / 8 * 8 + 5 + a % 8, "a + r0 + 5"},
      {(a + 3) / 8 * 8 + (a + 3) % 8, "a + 3"},
      {(r0 * 28 + r3) / 28 * 28 + (r0 * 28 + r3) % 28, "r0*28 + r3"},
      {a / n * n + a % n, "a"},
      {a / 8 * 7 + a % 8, "a%8 + a//8*7"},
      {a / 8 * 8 + b % 8, "b%8 + a//8*8"},
  });
}

TEST_F(Symbolic, Bounds) {
  check({
      {r0 < 16, "true"},
      {r0 < 0, "false"},
      {r0 >= 0, "true"},
      {r0 + r1 < 23, "true"},
      {r0 + r1 < 22, "r0 + r1 < 22"},
      {r0 * 8 + r1 < 128, "true"},
      {r0 - 15 <= 0, "true"},
      {r0 / 16 == 0, "true"},
      {r0 != 20, "true"},
      {r0 == 20, "false"},
      {max(r0, 15 + r1), "r1 + 15"},
      {max(r0, const_int(15)), "15"},
      {min(r0, const_int(16)), "r0"},
      {min(r0, const_int(15)), "r0"},
      {max(a, const_int(-100)), "a"},
      {n >= 1, "true"},
      {k < n, "true"},
      {k < 64, "true"},
      {k % n, "r4"},
      {r0 & 15, "r0"},
      {w < 200, "w < 200"},
      {cast(w, i32) < 256, "true"},
      {cast(w, i32) >= 0, "true"},
  });
}

TEST_F(Symbolic, Comparisons) {
  check({
      {a + 3 < 10, "a < 7"},
      {a - 3 < 10, "a < 13"},
      {3 < a + 1, "2 < a"},
      {a * 4 < 13, "a < 4"},
      {a * 4 < 12, "a < 3"},
      {a * -4 < 13, "-4 < a"},
      {-a < 3, "-3 < a"},
      {a / 4 < 3, "a < 12"},
      {a / 4 >= 3, "11 < a"},
      {!(a < 3), "2 < a"},
      {!(3 < a), "a < 4"},
      {a <= 3, "a < 4"},
      {a >= 3, "2 < a"},
      {a > 3, "3 < a"},
      {!(a < b), "a >= b"},
      {a < a, "false"},
      {a < a + 1, "true"},
      {a + 1 < a, "false"},
      {r0 + r1 < r0 + 3, "r1 < 3"},
      {r0 * 2 < r1 * 2, "r0 < r1"},
      {r0 * 8 + r1 < 64, "r0 < 8"},
      {r0 * 8 + r1 >= 64, "7 < r0"},
      {r0 * 8 + r1 < 60, "r0*8 + r1 < 60"},
      {r0 * 28 + r3 < r2 * 28, "r0 < r2"},
      {a != a, "false"},
      {a == a, "true"},
      {a + 3 == 5, "a == 2"},
      {a + 3 != 5, "a != 2"},
      {a * 3 == 6, "a == 2"},
      {a * 3 == 7, "false"},
      {a * 3 != 7, "true"},
      {a == a + 1, "false"},
      {a - r0 == 0, "a == r0"},
      {p < q, "2 < a & r1 < 4"},
  });
}

TEST_F(Symbolic, Conditions) {
  check({
      {p & p, "a < 3"},
      {p | p, "a < 3"},
      {p & yes, "a < 3"},
      {p & no, "false"},
      {p | no, "a < 3"},
      {p | yes, "true"},
      {p ^ yes, "2 < a"},
      {!(!p), "a < 3"},
      {p & !p, "false"},
      {p | !p, "true"},
      {p & q & p, "a < 3 & r1 < 4"},
      {p == no, "2 < a"},
      {p != no, "a < 3"},
      {p == yes, "a < 3"},
      {p + q, "a < 3 | r1 < 4"},
      {p * q, "a < 3 & r1 < 4"},
      {max(p, q), "a < 3 | r1 < 4"},
      {(a < 3) & (a < 5), "a < 3"},
      {(a < 3) | (a < 5), "a < 5"},
      {(a < 3) & (a > 5), "false"},
      {(a < 3) & (a >= 3), "false"},
      {(a < 3) | (a >= 3), "true"},
      {(a < 5) | (a > 3), "true"},
      {(a >= 3) & (a >= 5), "4 < a"},
      {(a >= 3) | (a >= 5), "2 < a"},
      {(a < 3) & q & (a < 2), "a < 2 & r1 < 4"},
      {(r0 < 16) & (r1 < 4), "r1 < 4"},
      {cast(cast(p, i32), bool_), "a < 3"},
  });
}

TEST_F(Symbolic, Selections) {
  const auto c = [](std::int64_t value) { return const_int(value); };
  check({
      {where(yes, a, b), "a"},
      {where(no, a, b), "b"},
      {where(p, a, a), "a"},
      {where(!(q & p), a, r0), "where(a < 3 & r1 < 4, r0, a)"},
      {where(p, yes, no), "a < 3"},
      {where(p, no, yes), "2 < a"},
      {where(p, where(p, r0, r1), r2), "where(a < 3, r0, r2)"},
      {where(p, r0, where(p, r1, r2)), "where(a < 3, r0, r2)"},
      {where(p, where(q, r0, r2), r2), "where(a < 3 & r1 < 4, r0, r2)"},
      {where(p, r2, where(q, r2, r0)), "where(a < 3 | r1 < 4, r2, r0)"},
      {where(r0 < 16, a, b), "a"},
      {where(p, c(1), c(2)) + 3, "where(a < 3, 4, 5)"},
      {where(p, c(1), c(2)) * 3 < 5, "a < 3"},
      {where(p, c(4), r0) + where(p, c(3), r1), "where(a < 3, 7, r0 + r1)"},
      {where(p, a, r0) - where(p, a, r0), "0"},
      {cast(where(p, c(1), c(0)), i32), "where(a < 3, 1, 0)"},
      {where(r0 < r3, r3, r0), "max(r0, r3)"},
      {where(a < 5, c(5), a), "max(a, 5)"},
      {where(5 < a, a, c(5)), "max(a, 5)"},
      {min(min(a, r0), r0), "where(a < r0, a, r0)"},
  });
}

TEST_F(Symbolic, SymbolicSizes) {
  check({
      {(r0 * n + k) / n, "r0"},
      {(r0 * n + k) % n, "r4"},
      {(r0 * n + k + n) / n, "r0 + 1"},
      {r0 * n / n, "r0"},
      {r0 * n % n, "0"},
      {(r0 * n + a) / n, "a//n + r0"},
      {(r0 * n + a) % n, "a%n"},
      {(r0 * n + k) * 8 / (n * 8), "r0"},
      {(r0 * n * 4 + k * 4 + 3) / 4, "n*r0 + r4"},
      {n * m / n, "m"},
      {n * m - m * n, "0"},
      {k / n, "0"},
      {k >= n, "false"},
      {n / 2 * 2 + n % 2, "n"},
  });
}

// What is asked for one remainder is not asked again for each that it stands in.
TEST_F(Symbolic, RemaindersInRemaindersTakeLittleTime) {
  UOp x = a;
  for (int level = 0; level < 40; ++level) {
    const UOp size = Variable("n" + std::to_string(level), 3, 1024);
    x = (x / 4 * 2 + range(size, 100 + level)) % size;
  }
  EXPECT_EQ(simplify(x)->op(), Op::FloorMod);
}

// A product or sum that may wrap keeps its order: nothing follows for quotients and comparisons.
TEST_F(Symbolic, WrappingIntegersKeepWhatTheyLose) {
  const UOp small = Variable("s", -10, 10, i8);
  check({
      {i * 4 / 4, "i*4//4"},
      {(i + 1) - 1, "i"},
      {i + 1 < i, "i + 1 < i"},
      {i * 2 < 6, "i*2 < 6"},
      {i * 2 == 6, "i*2 == 6"},
      {i + 1 == 6, "i == 5"},
      {(v + 100) / 4, "(v + 100)//4"},
      {(small + 100) / 4, "s//4 + 25"},
      {v * 2 % 2, "v*2%2"},
      {small * 2 % 2, "0"},
      {v * 100 + v * 100, "v*100*2"},
      {small * 4 / 4, "s"},
      {w + 1 < 1, "w + 1 < 1"},
      {w * 2 / 2, "w*2//2"},
      {w - w, "0"},
      {w / 16 * 16 + w % 16, "w"},
      {v / -1, "neg(v)"},
      {v / -4, "v//-4"},
      {-v < 3, "neg(v) < 3"},
      {cast(cast(i, i8), i32), "cast<i32>(cast<i8>(i))"},
      {cast(cast(v, i32), i8), "v"},
      {cast(cast(w, i8), u8), "w"},
      {op(Op::Shr, op(Op::Shl, v, 4), 4), "v << 4 >> 4"},
  });
}

// Where a smaller form would wrap on the way, the larger one stays.
TEST_F(Symbolic, NothingWrapsOnTheWay) {
  const UOp huge = Variable("h", INT64_MIN, INT64_MAX), s = Variable("s", -5, 0, i8);
  const UOp bit = range(2, 5);
  check({
      {huge % 5 * 3 % 5, "h%5*3%5"},
      {(huge / 2 + 2) / 2, "h//4 + 1"},
      {(huge / 2 + 3) / 2, "(h//2 + 3)//2"},
      {(r1 - 1) / (INT64_MAX - 1), "(r1 - 1)//9223372036854775806"},
      {bit * -INT64_MAX + r2 < r2 * 2, "r2 + r5*-9223372036854775807 < r2*2"},
      {s * 5 / 16 / 8, "s*5//16//8"},
      {v / 64 / 2, "v//64//2"},
      {v / 2 % 64 * 2 + v % 2, "v//2%64*2 + v%2"},
      {v / 2 % 32 * 2 + v % 2, "v%64"},
  });
}

TEST_F(Symbolic, Floats) {
  const UOp x = real(a), y = real(b);
  const std::string_view same = "cast<f32>(a)";
  check({
      // These hold for every value.
      {x - 0, same},
      {x * 1, same},
      {x / 1, same},
      {-(-x), same},
      {max(x, x), same},
      {where(yes, x, y), same},
      {where(p, x, x), same},
      {make(Op::Pow, {x, const_float(1, f32)}), same},
      {make(Op::Pow, {x, const_float(0, f32)}), "1"},
      {make(Op::Pow, {x, const_float(2, f32)}), "cast<f32>(a)*cast<f32>(a)"},
      {make(Op::Trunc, {make(Op::Trunc, {x})}), "trunc(cast<f32>(a))"},
      {const_float(0.5, f32) + const_float(0.25, f32), "0.75"},
      // These do not: for -0, NaN, infinities, or because of rounding.
      {x + 0, "cast<f32>(a) + 0"},
      {x * 0, "cast<f32>(a)*0"},
      {x - x, "cast<f32>(a) - cast<f32>(a)"},
      {x / x, "cast<f32>(a)/cast<f32>(a)"},
      {x + x, "cast<f32>(a) + cast<f32>(a)"},
      {(x + 1) - 1, "cast<f32>(a) + 1 - 1"},
      {x * 3 * 4, "cast<f32>(a)*3*4"},
      {(x + 1) * 2, "(cast<f32>(a) + 1)*2"},
      {x * 2 / 2, "cast<f32>(a)*2*0.5"},
      {x < x, "cast<f32>(a) < cast<f32>(a)"},
      {x == x, "cast<f32>(a) == cast<f32>(a)"},
      {x != x, "cast<f32>(a) != cast<f32>(a)"},
      {!(x < 1), "cast<f32>(a) >= 1"},
      {cast(cast(x, f16), f32), "cast<f32>(cast<f16>(cast<f32>(a)))"},
      {make(Op::Exp2, {const_float(0, f32)}), "exp2(0)"},
  });
}

// INDEX reads only where its condition holds, so its indices are simplified under it.
TEST_F(Symbolic, GatedIndices) {
  const UOp buffer = make(Op::Param, {const_int(4096)}, f32, ParamArg{});
  const auto at = [&](const UOp& valid, const UOp& index) {
    return make(Op::Index, {buffer, valid, index});
  };
  check({
      {at(yes, r0 * 8 + r1), "index(p0, true, r0*8 + r1)"},
      {at(no, r0 * 8 + r1), "index(p0, false, 0)"},
      {at(r0 < 16, r0), "index(p0, true, r0)"},
      {at(r0 < 8, r0 / 8), "index(p0, r0 < 8, 0)"},
      {at(r0 < 8, r0 % 8), "index(p0, r0 < 8, r0)"},
      {at(r0 >= 8, r0 / 8), "index(p0, 7 < r0, 1)"},
      {at(r0 >= 8, (r0 - 8) % 8), "index(p0, 7 < r0, r0 - 8)"},
      {at((r1 >= 4) & (r0 < 12), (r0 + r1 - 4) / 15), "index(p0, r0 < 12 & 3 < r1, 0)"},
      {at((r0 + r1 >= 1) & (r0 + r1 < 9), (r0 + r1 - 1) % 8),
       "index(p0, r0 + r1 < 9 & 0 < r0 + r1, r0 + r1 - 1)"},
      {at((r0 + r1 >= 1) & (r0 + r1 < 9), (r2 * 8 + r0 + r1 - 1) / 8),
       "index(p0, r0 + r1 < 9 & 0 < r0 + r1, r2)"},
      {at((r0 < 8) & (r0 < 10), r0), "index(p0, r0 < 8, r0)"},
      {at((r0 < 8) & (r0 * 8 + r1 < 64), r1), "index(p0, r0 < 8, r1)"},
      {at((r0 < 3) & (r0 > 5), r0), "index(p0, false, 0)"},
      {at(r0 < 4, where(r0 < 6, r1, r2)), "index(p0, r0 < 4, r1)"},
      {at(r1 >= 4, ((r2 + r1) * 2 + r1) / 3), "index(p0, 3 < r1, (r1 + (r1 + r2)*2)//3)"},
      {at(p & q, where(p, r0, r2)), "index(p0, a < 3 & r1 < 4, r0)"},
      {at((r3 / 7 >= 1) & (r3 / 7 < 3), (r3 - 7) / 7), "index(p0, r3 < 21 & 6 < r3, r3//7 - 1)"},
  });
}

}  // namespace
}  // namespace weft
