// Random expressions have the same values before and after simplification.
//
// WEFT_FULL=1 draws 200,000 cases and more, otherwise a sample. A case follows from its seed alone.

#include <cstdlib>

#include <gtest/gtest.h>

#include <weft/dev/rules/symbolic.h>
#include <weft/dev/validate/bounds.h>
#include <weft/error.h>

#include "../support/nodes.h"
#include "../support/random_expression.h"
#include "../support/shrink.h"
#include "../support/values.h"

namespace weft {
namespace {

constexpr std::uint64_t first_seed = 20250401;
constexpr int most_failures = 3;

int cases(int sample, int full) { return std::getenv("WEFT_FULL") != nullptr ? full : sample; }

using Transform = UOp (*)(const UOp&);
using MakeExpression = UOp (*)(std::uint64_t seed);

// Ends soon also where the rules would not.
UOp simplified(const UOp& root) { return simplify(std::vector{root}, {.budget = 50'000})[0]; }

// What is wrong with what the transform makes of the expression; empty where nothing is.
std::string wrong(const UOp& before, Transform transform) {
  try {
    return difference(before, transform(before));
  } catch (const Error& error) {
    return error.what();
  }
}

void report(std::uint64_t seed, const UOp& expression, Transform transform) {
  const UOp small = shrink(expression, [&](const UOp& candidate) {
    const bool same_kind = (candidate->op() == Op::Index) == (expression->op() == Op::Index);
    return same_kind && !wrong(candidate, transform).empty();
  });
  std::string after;
  try {
    after = expression_text(transform(small).node());
  } catch (const Error& error) {
    after = error.what();
  }
  ADD_FAILURE() << "seed " << seed << "\nbefore " << expression_text(small.node()) << "\nafter  "
                << after << "\n"
                << wrong(small, transform) << "\n"
                << print_graph("before", nodes_of({small}));
}

void check_all(int count, Transform transform, MakeExpression make_expression) {
  int failures = 0;
  Arena arena;
  const InternerScope scope(arena);
  for (int i = 0; i < count && failures < most_failures; ++i) {
    arena.reset();
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    const UOp expression = make_expression(seed);
    if (wrong(expression, transform).empty()) continue;
    ++failures;
    report(seed, expression, transform);
  }
}

UOp random_value(std::uint64_t seed, DType dtype) {
  RandomExpression random(seed, dtype);
  return seed % 4 == 0 ? random.condition() : random.integer();
}

UOp random_index(std::uint64_t seed) { return random_value(seed, dtypes::index); }

UOp random_fixed_width(std::uint64_t seed) {
  static constexpr DType widths[] = {dtypes::i8,  dtypes::u8,  dtypes::i32, dtypes::u32,
                                     dtypes::i64, dtypes::u64, dtypes::i16};
  return random_value(seed, widths[seed % std::size(widths)]);
}

UOp random_gated_index(std::uint64_t seed) { return RandomExpression(seed).gated_index(); }

// Values at the ends of i32 and u32.
UOp random_wide_index(std::uint64_t seed) {
  static constexpr std::int64_t ends[] = {
      INT32_MIN - 1L, INT32_MIN,      -3, -1, 0, 1, 2, 5, INT32_MAX, INT32_MAX + 1L,
      UINT32_MAX,     UINT32_MAX + 1L};
  static constexpr Op ops[] = {Op::Add,      Op::Sub,      Op::Mul,  Op::Max,
                               Op::FloorDiv, Op::FloorMod, Op::CDiv, Op::CMod};
  std::mt19937_64 random(seed);
  const auto end = [&] { return ends[random() % std::size(ends)]; };
  std::vector<UOp> values;
  for (std::uint64_t id = 0; id < 3; ++id) {
    const auto [lo, hi] = std::minmax({end(), end()});
    values.push_back(
        make(Op::Variable, {}, dtypes::index, VariableArg{Symbol(std::string("v")), {id}, lo, hi}));
  }
  const auto value = [&] {
    return random() % 4 == 0 ? const_int(end()) : values[random() % values.size()];
  };
  for (int i = 0; i < 4; ++i)
    values.push_back(make(ops[random() % std::size(ops)], {value(), value()}));
  const UOp condition = make(random() % 2 == 0 ? Op::CmpLt : Op::CmpEq, {value(), value()});
  return random() % 2 == 0 ? condition : make(Op::Where, {condition, value(), value()});
}

// Small values times factors at the ends of i64: sums that are just exact, or just not.
class HugeExpression {
 public:
  explicit HugeExpression(std::uint64_t seed) : random_(seed) {
    for (std::uint64_t id = 0; id < 3; ++id) {
      const std::int64_t least = between(-2, 1);
      const VariableArg arg{Symbol(std::string("v")), {id}, least, least + between(0, 3)};
      leaves_.push_back(make(Op::Variable, {}, dtypes::index, arg));
    }
  }

  UOp condition() {
    const UOp a = value(2), b = one_in(2) ? const_int(factor()) : value(1);
    const Op op = one_in(4) ? Op::CmpEq : one_in(4) ? Op::CmpNe : Op::CmpLt;
    const UOp compared = one_in(3) ? make(op, {b, a}) : make(op, {a, b});
    return one_in(3) ? compared & (value(1) < const_int(factor())) : compared;
  }

  UOp value(int depth) {
    if (depth == 0) return sum();
    const UOp x = value(depth - 1), by = const_int(factor());
    const UOp quotient = make(Op::FloorDiv, {x, by}), rest = make(Op::FloorMod, {x, by});
    switch (between(0, 8)) {
      case 0: return quotient;
      case 1: return rest;
      case 2: return make(Op::FloorDiv, {quotient, const_int(factor())});
      case 3: return quotient * by + rest;
      case 4: return make(Op::FloorDiv, {x + by, by}) * factor() + rest;
      case 5: return x * factor() + value(depth - 1);
      case 6: return make(Op::Max, {x, by});
      case 7: return make(Op::Where, {sum() < const_int(factor()), x, by});
      default: return make(one_in(2) ? Op::CDiv : Op::CMod, {x, by});
    }
  }

 private:
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }

  std::int64_t factor() {
    if (one_in(3)) return between(-4, 8);
    static constexpr std::int64_t ends[] = {
        std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{1} << 60, std::int64_t{1} << 61,
        std::int64_t{1} << 62, std::int64_t{3} << 60, INT64_MAX / 3,         INT64_MAX};
    const std::int64_t end = ends[random_() % std::size(ends)] - between(0, 2);
    return one_in(3) ? -end - 1 : end;
  }

  UOp sum() {
    UOp total = const_int(one_in(2) ? 0 : factor());
    for (std::int64_t terms = between(1, 4); terms > 0; --terms)
      total = total + leaves_[random_() % leaves_.size()] * factor();
    return total;
  }

  std::mt19937_64 random_;
  std::vector<UOp> leaves_;
};

UOp random_huge_index(std::uint64_t seed) {
  HugeExpression random(seed);
  return seed % 2 == 0 ? random.condition() : random.value(2);
}

UOp random_float(std::uint64_t seed) {
  return RandomExpression(seed, dtypes::i8).real(seed % 3 == 0 ? dtypes::f16 : dtypes::f32);
}

// What is divided by a size, as windows along an open axis are: loops up to sizes made of one, times numbers, sizes and
// each other.
UOp random_division_by_size(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto between = [&](std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  const std::int64_t least = between(1, 6);
  const UOp n = make(Op::Variable, {}, dtypes::index,
                     VariableArg{Symbol(std::string("n")), {50}, least, least + between(0, 12)});
  const auto size = [&] {
    const UOp part = random() % 2 == 0 ? n : (n + between(-3, 3)) / between(2, 4);
    return part * between(1, 2) + between(-2, 4);
  };
  const auto count = [&](std::uint64_t id) {
    const UOp most = size();
    return range(random() % 3 == 0 || most->lo() < 1 ? const_int(between(1, 4)) : most, id);
  };
  const UOp divisor = random() % 4 == 0 ? n : size() + between(0, 5);
  UOp x = const_int(between(-3, 3));
  for (std::uint64_t id = 0; id < 3; ++id) {
    const UOp term = count(id) * between(-2, 3);
    x = x + (random() % 3 != 0 ? term : random() % 2 == 0 ? term * divisor : term * (n + 1));
  }
  return make(random() % 2 == 0 ? Op::FloorMod : Op::FloorDiv, {x, divisor});
}

TEST(SymbolicProperty, DivisionsBySizesKeepTheirValue) {
  check_all(cases(3'000, 30'000), simplified, random_division_by_size);
}

TEST(SymbolicProperty, IndicesKeepTheirValue) {
  check_all(cases(8'000, 100'000), simplified, random_index);
}

TEST(SymbolicProperty, HugeFactorsKeepTheirValue) {
  check_all(cases(8'000, 200'000), simplified, random_huge_index);
}

TEST(SymbolicProperty, FixedWidthsKeepTheirValue) {
  check_all(cases(6'000, 60'000), simplified, random_fixed_width);
}

TEST(SymbolicProperty, GatedIndicesKeepTheirValue) {
  check_all(cases(5'000, 40'000), simplified, random_gated_index);
}

TEST(SymbolicProperty, FloatsKeepTheirValue) {
  check_all(cases(2'000, 20'000), simplified, random_float);
}

TEST(SymbolicProperty, WidthsKeepValues) {
  const Transform widths = [](const UOp& root) { return rewrite(root, width_rules()); };
  check_all(cases(2'000, 20'000), widths, random_index);
  check_all(cases(2'000, 20'000), widths, random_wide_index);
  check_all(
      cases(2'000, 20'000), [](const UOp& root) { return rewrite(simplify(root), width_rules()); },
      random_gated_index);
}

// symbolic() ends where none of its rules applies. What factor_rules() makes of that can now and then
// be simplified again.
TEST(SymbolicProperty, SimplifyingAgainChangesLittle) {
  const int count = cases(4'000, 40'000);
  int changed = 0;
  Arena arena;
  const InternerScope scope(arena);
  for (int i = 0; i < count; ++i) {
    arena.reset();
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    const UOp expression = seed % 3 == 0 ? random_gated_index(seed) : random_index(seed);
    const UOp end = rewrite(expression, symbolic());
    EXPECT_TRUE(rewrite(end, symbolic()).is(end)) << "seed " << seed;
    const UOp once = simplify(expression), twice = simplify(once);
    changed += !once.is(twice);
  }
  EXPECT_LE(changed * 1000, count * 5) << "more than 0.5 % of the expressions";
}

class HearsSpread final : public RewriteTrace {
 public:
  void applied(std::string_view pass, const Rule&, const Node*, const Node*) override {
    heard_ = heard_ || pass == "spread";
  }
  bool heard() const { return heard_; }

 private:
  bool heard_ = false;
};

// simplify() tries spread_rules() wherever they apply, and tells of it only where it kept that: seldom
// where all parts of the expression are needed too.
TEST(SymbolicProperty, TraceHasOnlyWhatWasKept) {
  const auto ops = [](const std::vector<UOp>& roots) {
    return std::ranges::count_if(toposort(nodes_of(roots)),
                                 [](const Node* node) { return is_elementwise(node->op()); });
  };
  int kept = 0, given_up = 0;
  Arena arena;
  const InternerScope scope(arena);
  for (std::uint64_t seed = first_seed; seed < first_seed + 3'000; ++seed) {
    arena.reset();
    const UOp whole = rewrite(random_index(seed), symbolic());
    if (rewrite(whole, spread_rules()).is(whole)) continue;
    std::vector<UOp> roots{whole};
    if (seed % 2 == 0)
      for (const Node* part : toposort(whole.node())) roots.emplace_back(part);
    HearsSpread trace;
    const auto result = simplify(roots, {.trace = &trace});
    ++(trace.heard() ? kept : given_up);
    EXPECT_EQ(trace.heard(), ops(result) < ops(rewrite(roots, factor_rules()))) << "seed " << seed;
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(given_up, 0);
}

// What the prover can compare: it takes a loop of another size for another loop, and knows little of
// bits.
bool is_provable(const UOp& before, const UOp& after) {
  static constexpr OpSet bits{Op::And, Op::Or, Op::Xor, Op::Shl, Op::Shr};
  const auto known = toposort(before.node());
  const auto has_bits = [](const Node* node) {
    return bits.contains(node->op()) && node->dtype().is_int();
  };
  const auto is_new_loop = [&](const Node* node) {
    return node->op() == Op::Range && std::ranges::find(known, node) == known.end();
  };
  return std::ranges::none_of(known, has_bits) &&
         std::ranges::none_of(toposort(after.node()), is_new_loop);
}

// The proofs are about all values, where the tests above try some.
TEST(SymbolicProperty, SmallOnesAreProvedEqual) {
  if (!can_prove()) GTEST_SKIP() << "built without Z3";
  const int count = cases(150, 2'000);
  int tried = 0;
  std::string unknown;
  Arena arena;
  const InternerScope scope(arena);
  for (std::uint64_t seed = first_seed; tried < count; ++seed) {
    arena.reset();
    RandomExpression random(seed);
    const UOp before = seed % 4 == 0 ? random.condition(2) : random.integer(2),
              after = simplify(before);
    if (!is_provable(before, after)) continue;
    ++tried;
    const Proof proof = prove_equal(before.node(), after.node(), 5000);
    const std::string texts =
        fmt::format("seed {}: {} and {}: {}\n", seed, expression_text(before.node()),
                    expression_text(after.node()), proof.reason);
    EXPECT_NE(proof.verdict, Verdict::Refuted) << texts;
    if (proof.verdict == Verdict::Unknown) unknown += texts;
  }
  EXPECT_LE(std::ranges::count(unknown, '\n') * 50, count) << unknown;
}

}  // namespace
}  // namespace weft
