#include <weft/dev/rewrite/rule.h>

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft {
namespace {

using namespace dtypes;

const Pat x = any("x"), y = any("y"), z = any("z"), c = int_const("c"), d = int_const("d");

class Pattern : public testing::Test {
 protected:
  static UOp leaf(std::string_view name, DType dtype = index) {
    return Variable(name, 0, 9, dtype);
  }
  static UOp full(std::string_view name, DType dtype) {
    return Variable(name, static_cast<std::int64_t>(lowest_bits(dtype)),
                    static_cast<std::int64_t>(highest_bits(dtype)), dtype);
  }

  Arena arena_;
  InternerScope scope_{arena_};
  const UOp a = leaf("a"), b = leaf("b"), e = leaf("e"), p = leaf("p", bool_), q = leaf("q", bool_);
};

// What one application makes; "-" where the rule does not match.
std::string once(const Rule& rule, const UOp& on) {
  const RuleSet set("test", {rule});
  const auto result = set.apply(on.node(), Interner::current());
  return result.node == nullptr ? "-" : expression_text(result.node);
}

UOp mark(const Match& m) { return Variable("matched", 0, 9, m.root()->dtype()); }
bool matches(const Pat& left, const UOp& on) { return once(rule(left, mark), on) == "matched"; }

// Whether the pattern takes the value as the source of an op.
bool takes(const Pat& pattern, const UOp& value) {
  return matches(node(Op::Trunc, {pattern}), make(Op::Trunc, {value}));
}

TEST_F(Pattern, WildcardsTakeTheirKinds) {
  struct Row {
    Pat wildcard;
    std::vector<DType> taken;
  };
  const std::vector<DType> all{bool_, index, i8,   i64,        u8,           u64,
                               f16,   f32,   weak, i32.vec(4), bool_.vec(4), f32.vec(4)};
  const Row rows[] = {
      {any("x"), all},
      {ints("x"), {index, i8, i64, u8, u64, i32.vec(4)}},
      {indices("x"), {index}},
      {bools("x"), {bool_, bool_.vec(4)}},
      {floats("x"), {f16, f32, weak, f32.vec(4)}},
      {of_kinds("x", signed_kinds), {index, i8, i64, i32.vec(4)}},
      {of_kinds("x", {Kind::I8, Kind::F32}), {i8, f32, f32.vec(4)}},
      {with_kinds(node(Op::Variable), {Kind::I8}), {i8}},
  };
  for (const Row& row : rows)
    for (const DType dtype : all)
      EXPECT_EQ(takes(row.wildcard, leaf("v", dtype)),
                std::ranges::find(row.taken, dtype) != row.taken.end())
          << "row " << &row - rows << " and " << dtype.str();
}

TEST_F(Pattern, ConstantWildcardsTakeConstants) {
  EXPECT_TRUE(takes(any_const("c"), const_float(1.5, f32)));
  EXPECT_TRUE(takes(int_const("c"), const_int(3, u8)));
  EXPECT_TRUE(takes(bool_const("c"), const_bool(true)));
  EXPECT_FALSE(takes(any_const("c"), a));
  EXPECT_FALSE(takes(int_const("c"), const_float(1, f32)));
  EXPECT_FALSE(takes(int_const("c"), const_bool(true)));
  EXPECT_FALSE(takes(bool_const("c"), const_int(1)));
}

TEST_F(Pattern, LiteralsTakeTheDtypeOfTheConstant) {
  struct Row {
    std::int64_t literal;
    UOp value;
    bool same;
  };
  const Row rows[] = {
      {0, const_int(0), true},
      {0, const_int(0, u8), true},
      {3, const_int(3, i32.vec(4)), true},
      {1, const_int(2, i32), false},
      {-1, const_int(-1, i8), true},
      {-1, const_int(127, i8), false},
      {-1, const_int(255, u8), true},
      {-1, const_int(-1, u64), true},
      {0, const_bool(false), true},
      {0, const_bool(true), false},
      {1, const_bool(true), true},
      {1, const_bool(false), false},
      {0, const_float(0, f32), true},
      {0, const_float(-0.0, f32), false},
      {0, const_float(-0.0, f16), false},
      {0, const_float(-0.0, weak), false},
      {1, const_float(1, f16), true},
      {1, const_float(1.5, f32), false},
      {2, const_float(2, weak), true},
      {-2, const_float(-2, f32.vec(2)), true},
      {0, a, false},
  };
  for (const Row& row : rows)
    EXPECT_EQ(takes(Pat(row.literal), row.value), row.same)
        << row.literal << " and " << expression_text(row.value.node()) << " : "
        << row.value->dtype().str();
}

TEST_F(Pattern, AnOpSetTakesItsOps) {
  const Pat shift = node({Op::Shl, Op::Shr}, {x, y}),
            elementwise = node(OpSet::where(is_elementwise));
  EXPECT_TRUE(matches(shift, make(Op::Shl, {a, b})));
  EXPECT_TRUE(matches(shift, make(Op::Shr, {a, b})));
  EXPECT_FALSE(matches(shift, a + b));
  EXPECT_TRUE(matches(elementwise, a + b));
  EXPECT_TRUE(matches(elementwise, -a));
  EXPECT_FALSE(matches(elementwise, tuple({a, b})));
}

TEST_F(Pattern, APatThatStandsTwiceIsOneNode) {
  EXPECT_TRUE(matches(x - x, a - a));
  EXPECT_FALSE(matches(x - x, a - b));
  EXPECT_TRUE(matches(where(x, y, where(x, z, y)), where(p, a, where(p, b, a))));
  EXPECT_FALSE(matches(where(x, y, where(x, z, y)), where(p, a, where(q, b, a))));
  EXPECT_FALSE(matches(where(x, y, where(x, z, y)), where(p, a, where(p, b, b))));
  const Pat same_text = any("x");
  EXPECT_TRUE(matches(x - same_text, a - b)) << "names are for printing only";
}

TEST_F(Pattern, ArityIsPartOfThePattern) {
  const UOp two = tuple({a, b}), three = tuple({a, b, e});
  EXPECT_TRUE(matches(node(Op::Tuple, {x, y}), two));
  EXPECT_FALSE(matches(node(Op::Tuple, {x, y}), three));
  EXPECT_FALSE(matches(node(Op::Tuple, {x, y}), tuple({a})));
  const Pat more = with_more(node(Op::Tuple, {x, y}));
  EXPECT_TRUE(matches(more, two));
  EXPECT_TRUE(matches(more, three));
  EXPECT_FALSE(matches(more, tuple({a})));
  EXPECT_TRUE(matches(node(Op::Tuple), tuple({})));
  EXPECT_TRUE(matches(node(Op::Tuple), three));
}

TEST_F(Pattern, OpsThatCommuteAreReadInEveryOrder) {
  const auto in_all_orders = [](const UOp& one, const UOp& two, Op op) {
    return std::vector{make(op, {one, two}), make(op, {two, one})};
  };
  const Pat pattern = (x * 3 + y) & max(x, 5);
  int tried = 0;
  for (const UOp& product : in_all_orders(a, const_int(3), Op::Mul))
    for (const UOp& sum : in_all_orders(product, b, Op::Add))
      for (const UOp& most : in_all_orders(a, const_int(5), Op::Max))
        for (const UOp& whole : in_all_orders(sum, most, Op::And)) {
          EXPECT_TRUE(matches(pattern, whole)) << expression_text(whole.node());
          ++tried;
        }
  EXPECT_EQ(tried, 16);
  EXPECT_FALSE(matches(pattern, (a * 3 + b) & max(b, const_int(5)))) << "x is a on one side only";
  EXPECT_FALSE(matches(x - 3, 3 - a)) << "SUB does not commute";
}

TEST_F(Pattern, OrderedIsReadAsWritten) {
  EXPECT_TRUE(matches(ordered(x + 3), a + 3));
  EXPECT_FALSE(matches(ordered(x + 3), 3 + a));
  const Pat outside = ordered(x * 2 + 3);
  EXPECT_TRUE(matches(outside, 2 * a + 3)) << "only its own op is ordered";
  EXPECT_FALSE(matches(outside, 3 + a * 2));
}

TEST_F(Pattern, ExactRefusesWhatMayWrap) {
  const UOp small = Variable("small", 0, 20, i8), wide = full("wide", i8);
  EXPECT_TRUE(matches(exact(x * 4), small * 4));
  EXPECT_FALSE(matches(exact(x * 4), wide * 4));
  EXPECT_TRUE(matches(exact((x * 4) / 2), (small * 4) / 2));
  EXPECT_FALSE(matches(exact((x * 4) / 2), (wide * 4) / 2)) << "an op further inside wraps";
  EXPECT_TRUE(matches(exact(x / 2), (wide * 4) / 2)) << "what a wildcard matches may wrap";
  EXPECT_FALSE(matches(exact(x / -1), wide / -1));
}

TEST_F(Pattern, ExactOnTheRightRefusesToBuildWhatMayWrap) {
  const Rule shift = rule((x / c + d) / 2, exact(x + fold(c * d)) / fold(c * 2));
  const UOp narrow = Variable("v", 0, 100, i8), wide = Variable("v", 0, 120, i8);
  EXPECT_EQ(once(shift, (narrow / 3 + 4) / 2), "(v + 12)//6");
  EXPECT_EQ(once(shift, (wide / 3 + 4) / 2), "-");
}

TEST_F(Pattern, GuardsSeeConstantsAndBounds) {
  const UOp five = Variable("five", 0, 5), n = Variable("n", 3, 8);
  struct Row {
    Guard guard;
    bool holds;
  };
  // Of five*6 + n, which is x*c + y.
  const Row rows[] = {
      {when(c == 6), true},         {when(c != 6), false},
      {when(c > 5 && c < 7), true}, {when(c < 6 || c >= 6), true},
      {when(c <= 5), false},        {when(c % 4 == 2), true},
      {when(c / -4 == -2), true},   {when(lo(x) == 0), true},
      {when(hi(x) == 5), true},     {when(lo(y) == 3), true},
      {when(hi(y) > hi(x)), true},  {when(hi(x) * c < lo(y)), false},
      {when(c - 7 == -1), true},    {when(max(c, hi(y)) == 8), true},
      {when((c ^ 3) == 5), true},   {when(c / 0 == 0), false},
      {when(c % 0 == c), false},
  };
  for (const Row& row : rows)
    EXPECT_EQ(once(rule(x * c + y, y, row.guard), five * 6 + n), row.holds ? "n" : "-")
        << row.guard.condition->str();
}

TEST_F(Pattern, NumbersOfGuardsDoNotWrap) {
  const UOp huge = Variable("v", 0, INT64_MAX);
  const Pat most = hi(x);
  EXPECT_EQ(once(rule(x % c, x, when(most + 1 > most)), huge % 3), "v");
  EXPECT_EQ(once(rule(x % c, x, when(most * most > most)), huge % 3), "v") << "128 bits hold it";
  EXPECT_EQ(once(rule(x % c, x, when(most * most * most != 0)), huge % 3), "-") << "and not this";
  const UOp top = const_int(-1, u64);
  EXPECT_EQ(once(rule(x % c, x, when(most > c)), top % 3), "18446744073709551615") << "not -1";
}

TEST_F(Pattern, FunctionGuardsAndBothKindsTogether) {
  const Guard test = when([](const Match& m) { return m.node(y)->op() == Op::Variable; });
  EXPECT_EQ(once(rule(x - y, x, test), a - b), "a");
  EXPECT_EQ(once(rule(x - y, x, test), a - 3), "-");
  Guard both = test;
  both.condition = std::make_shared<const Pat>(lo(x) > 0);
  EXPECT_EQ(once(rule(x - y, x, both), a - b), "-");
  EXPECT_EQ(once(rule(x - y, x, both), (a + 1) - b), "a + 1");
}

TEST_F(Pattern, FoldComputesAndRefusesToWrap) {
  const UOp v = full("v", i8), u = full("u", u8);
  EXPECT_EQ(once(rule((x + c) + d, x + fold(c + d)), (v + 100) + 27), "v + 127");
  EXPECT_EQ(once(rule((x + c) + d, x + fold(c + d)), (v + 100) + 28), "-");
  EXPECT_EQ(once(rule((x * c) * d, x * fold(c * d)), (u * 15) * 17), "u*255");
  EXPECT_EQ(once(rule((x * c) * d, x * fold(c * d)), (u * 16) * 16), "-");
  EXPECT_EQ(once(rule(x - c, x + fold(0 - c)), u - 1), "-") << "no negative u8";
  EXPECT_EQ(once(rule((x + c) + d, x + fold(c + d)), (a + INT64_MAX) + 1), "-");
  EXPECT_EQ(once(rule((x & c) & d, x & fold(c & d)), (u & -1) & 12), "u & 12");
  EXPECT_EQ(once(rule((x / c) * d, x * fold(d / c)), (a / 4) * 9), "a*2");
  EXPECT_EQ(once(rule((x / c) * d, x * fold(d / c)), (a / 0) * 9), "-") << "no quotient by 0";
  EXPECT_EQ(once(rule(x < c, fold(c == 3)), a < 3), "true");
  EXPECT_EQ(once(rule(x * c, x + fold(hi(x) - lo(x))), a * 2), "a + 9");
}

TEST_F(Pattern, FunctionsGetTheMatchedNodes) {
  static const Pat quotient = x / c;
  const auto function = [](const Match& m) {
    if (m.node(c)->lo() != 4) return UOp();
    return m[y] - m[x] * m[quotient];
  };
  EXPECT_EQ(once(rule(quotient + y, function), b + a / 4), "b - a*(a//4)");
  EXPECT_EQ(once(rule(quotient + y, function), b + a / 5), "-");
  const auto unbound = [](const Match& m) { return m.node(z) == nullptr ? m[x] : UOp(); };
  EXPECT_EQ(once(rule(x - y, unbound), a - b), "a") << "what the left side lacks is null";
}

TEST_F(Pattern, AnInnerPatternIsWhatItMatched) {
  const Pat quotient = x / c, bound = y < c;
  EXPECT_EQ(once(rule(quotient * d + x, x - quotient), a / 4 * 3 + a), "a - a//4");
  EXPECT_EQ(once(rule(where(bound, x, 0), where(bound, 0, x)), where(a < 4, b, const_int(0))),
            "where(a < 4, 0, b)");
}

TEST_F(Pattern, LiteralsOnTheRightTakeTheDtypeAroundThem) {
  const auto made = [](const Rule& r, const UOp& on) {
    const RuleSet set("test", {r});
    return UOp(set.apply(on.node(), Interner::current()).node);
  };
  for (const DType dtype : {index, i32, u8, f16, weak, i32.vec(4), f32.vec(2)}) {
    const UOp v = leaf("v", dtype);
    const UOp two = const_int(2, dtype);
    EXPECT_TRUE(made(rule(x + x, x * 2), v + v).is(v * two)) << dtype.str();
    EXPECT_TRUE(made(rule(x - x, 0), v - v).is(const_int(0, dtype))) << dtype.str();
    EXPECT_TRUE(made(rule(x * y, max(2, x) + y), v * two).is(max(two, v) + two)) << dtype.str();
  }
  const UOp v = leaf("v", i8), w = leaf("w", i8), f = leaf("f", f32);
  // A comparison's operands have a dtype of their own, and so have the branches of a WHERE.
  EXPECT_TRUE(made(rule(!(x < y), y < x + 1), !(v < w)).is(w < v + 1));
  EXPECT_TRUE(made(rule(x * y, where(x < 3, 1, y)), v * w).is(where(v < 3, const_int(1, i8), w)));
  EXPECT_TRUE(made(rule(where(x, y, z), where(!x, 0, y)), where(v < w, f, f + f))
                  .is(where(!(v < w), const_float(0, f32), f)));
}

TEST_F(Pattern, RulesPrint) {
  const auto text = [](const Rule& rule) {
    const std::string out = rule.str();
    return out.substr(0, out.find(" (pattern_test.cpp:"));
  };
  EXPECT_EQ(text(rule(x * 1, x)), "x*1 -> x");
  EXPECT_EQ(text(rule(x - x, 0)), "x - x -> 0");
  EXPECT_EQ(text(rule((x / c + d) % c, x * fold(c + d), when(c > 0 && lo(x) >= 0))),
            "((x//c) + d)%c -> x*fold(c + d) when (0 < c) & (0 < (lo(x) + 1))");
  EXPECT_EQ(text(rule(with_more(node(Op::Tuple, {x, y})), mark)), "tuple(x, y...) -> function");
  EXPECT_EQ(text(rule(node(Op::Index), mark)), "index(...) -> function");
  EXPECT_EQ(text(rule(where(!x, y, max(z, y)), -y)), "where(x != 1, y, max(z, y)) -> neg(y)");
  const Rule here = rule(x, y);
  EXPECT_EQ(here.line, __LINE__ - 1);
  EXPECT_TRUE(here.str().ends_with("(pattern_test.cpp:" + std::to_string(here.line) + ")"))
      << here.str();
}

// A rule that makes no sense is found when its set is made, and named.
TEST_F(Pattern, WrongRulesAreRefused) {
  const auto error = [](const Rule& rule) -> std::string {
    try {
      const RuleSet set("wrong", {rule});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const Pat six[] = {any("1"), any("2"), any("3"), any("4"), any("5"), any("6")};
  Pat sum = any("0"), difference = any("0");
  for (const Pat& next : six) sum = sum + next;
  for (int i = 0; i < 13; ++i) difference = difference - any("i");
  struct Row {
    Rule rule;
    std::string_view says;
  };
  const Row rows[] = {
      {rule(x - y, z), "the right side uses what the left side does not bind"},
      {rule(x - y, x, when(lo(z) == 0)), "bounds of what the left side does not bind"},
      {rule(x - y, x, when(z == 0)), "a number uses what the left side does not bind"},
      {rule(x - y, x, when(where(x, 1, 0))), "numbers know binary ops only"},
      {rule(x - y, lo(x)), "the right side uses what the left side does not bind"},
      {rule(sum, x), "too many commuting ops"},
      {rule(difference, x), "too many nodes"},
  };
  for (const Row& row : rows) {
    EXPECT_NE(error(row.rule).find(row.says), std::string::npos) << error(row.rule);
    EXPECT_NE(error(row.rule).find("pattern_test.cpp"), std::string::npos) << error(row.rule);
  }
  EXPECT_EQ(error(rule(x - y, x)), "");
}

}  // namespace
}  // namespace weft
