// Every rule on its own: its left side is filled in at random, and what the rule makes of that has
// the same value.

#include <cstdlib>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include <weft/dev/rules/symbolic.h>

#include "../support/random_expression.h"
#include "../support/values.h"

namespace weft {
namespace {

using Form = Pat::Tree::Form;

constexpr std::uint64_t first_seed = 20250401;

// An expression of the shape of a left side; null where chance took a dtype that does not fit.
class Instance {
 public:
  Instance(std::uint64_t seed, DType dtype)
      : random_(seed), dtype_(dtype), expressions_(seed, dtype.is_int() ? dtype : dtypes::i8) {}

  UOp of(const Pat& pattern) { return of(pattern, one_in(3) ? dtypes::bool_ : dtype_); }

 private:
  bool one_in(int n) { return random_() % static_cast<std::uint64_t>(n) == 0; }

  UOp of(const Pat& pattern, DType wanted) {
    if (!pattern->kinds.contains(wanted.kind())) return {};
    if (const auto known = made_.find(pattern.get()); known != made_.end())
      return known->second->dtype() == wanted ? known->second : UOp();
    UOp made;
    if (pattern->form == Form::Ops)
      made = with_op(pattern, wanted);
    else if (pattern->form == Form::Literal)
      made = const_int(pattern->literal, wanted);
    else
      made = pattern->constant ? constant(wanted) : value(wanted);
    if (!made.is_null()) made_.emplace(pattern.get(), made);
    return made;
  }

  UOp constant(DType dtype) {
    if (dtype.is_bool()) return const_bool(one_in(2));
    static constexpr std::int64_t numbers[] = {-8, -4, -3, -2, -1, 0,  1,  2,   3,  4,
                                               5,  6,  7,  8,  12, 15, 24, 100, 127};
    return const_int(numbers[random_() % std::size(numbers)], dtype);
  }

  UOp value(DType dtype) {
    if (dtype.is_bool()) return expressions_.condition(1);
    if (dtype.is_float()) return one_in(4) ? const_float(-0.0, dtype) : expressions_.real(dtype, 1);
    if (dtype != dtype_) return cast(expressions_.integer(1), dtype);
    return one_in(4) ? constant(dtype) : expressions_.integer(1);
  }

  UOp with_op(const Pat& pattern, DType wanted) {
    std::vector<Op> ops;
    for (int i = 0; i < op_count; ++i)
      if (pattern->ops.contains(static_cast<Op>(i))) ops.push_back(static_cast<Op>(i));
    const Op op = ops[random_() % ops.size()];
    if (op == Op::Range) return wanted.is_int() ? loop(pattern, wanted) : UOp();
    if (info(op).arg != ArgType::NoArg || OpSet{Op::Threefry, Op::Ldexp, Op::Index}.contains(op))
      return {};
    const bool compares = info(op).dtype == DTypeRule::Bool;
    if (compares && !wanted.is_bool()) return {};
    DType operand = wanted;
    if (compares && one_in(2)) operand = dtype_;
    if (op == Op::Cast || op == Op::Bitcast) operand = other_dtype(op, wanted);
    if (!allows(op, operand)) return {};
    std::vector<UOp> src;
    for (std::size_t i = 0; i < info(op).arity.least; ++i) {
      const DType dtype = op == Op::Where && i == 0 ? dtypes::bool_ : operand;
      src.push_back(pattern->any_sources ? value(dtype) : of(pattern->src[i], dtype));
      if (src.back().is_null()) return {};
    }
    if (has(op, OpFlag::Commutes) && !pattern->ordered && one_in(2)) std::swap(src[0], src[1]);
    return make(op, src, wanted);
  }

  // Over a size that is at least 1 somewhere.
  UOp loop(const Pat& pattern, DType dtype) {
    const UOp size = make(Op::Variable, {}, dtype, VariableArg{Symbol("size"), {20}, 1, 9});
    if (pattern->any_sources) return range(size, 20);
    if (pattern->src[0]->form == Form::Literal) return range(of(pattern->src[0], dtype), 20);
    made_.emplace(pattern->src[0].get(), size);
    return range(size, 20);
  }

  DType other_dtype(Op op, DType wanted) {
    static constexpr DType all[] = {dtypes::i8,  dtypes::u8,    dtypes::i32,
                                    dtypes::u32, dtypes::i64,   dtypes::f16,
                                    dtypes::f32, dtypes::index, dtypes::bool_};
    for (;;) {
      const DType other = all[random_() % std::size(all)];
      if (op == Op::Cast || other.bits() == wanted.bits()) return other;
      if (wanted.is_bool()) return wanted;
    }
  }

  std::mt19937_64 random_;
  DType dtype_;
  RandomExpression expressions_;
  std::map<const Pat::Tree*, UOp> made_;
};

// Devices decompose these: they have no value to compare.
bool has_value(const UOp& root) {
  static constexpr OpSet bounded{Op::Exp2, Op::Log2, Op::Sin, Op::Cos, Op::Pow};
  return std::ranges::none_of(toposort(root.node()),
                              [](const Node* node) { return bounded.contains(node->op()); });
}

// A left side that is no more than "any ADD" says nothing to fill in; its function looks further.
bool is_algebraic(const Rule& rule) { return !rule.left->any_sources; }

// How often the rule applied to instances of its left side, each time to the same value.
int try_rule(const Rule& rule, int wanted) {
  static constexpr DType dtypes_tried[] = {dtypes::index, dtypes::i8,  dtypes::u8,
                                           dtypes::i32,   dtypes::u32, dtypes::u64,
                                           dtypes::i64,   dtypes::f32, dtypes::f16};
  const RuleSet only("only", {rule});
  int hits = 0;
  Arena arena;
  const InternerScope scope(arena);
  for (int attempt = 0; attempt < wanted * 200 && hits < wanted; ++attempt) {
    arena.reset();
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(attempt);
    const UOp before = Instance(seed, dtypes_tried[seed % std::size(dtypes_tried)]).of(rule.left);
    if (before.is_null()) continue;
    const auto result = only.apply(before.node(), arena);
    if (result.node == nullptr) continue;
    ++hits;
    if (!has_value(before)) continue;
    const UOp after(result.node);
    if (const std::string wrong = difference(before, after, 200); !wrong.empty()) {
      ADD_FAILURE() << rule.str() << "\nseed " << seed << "\nbefore "
                    << expression_text(before.node()) << "\nafter  "
                    << expression_text(after.node()) << "\n"
                    << wrong;
      return hits;
    }
  }
  return hits;
}

class RuleProperty : public testing::TestWithParam<const RuleSet& (*)()> {};

TEST_P(RuleProperty, EveryRuleKeepsValues) {
  const int wanted = std::getenv("WEFT_FULL") != nullptr ? 2000 : 60;
  for (const Rule& rule : GetParam()().rules()) {
    const int hits = try_rule(rule, wanted);
    EXPECT_TRUE(hits > 0 || !is_algebraic(rule)) << "never applied: " << rule.str();
  }
}

std::string name_of(const testing::TestParamInfo<const RuleSet& (*)()>& info) {
  return info.param().name();
}

INSTANTIATE_TEST_SUITE_P(Sets, RuleProperty,
                         testing::Values(&fold_rules, &order_rules, &sum_rules, &divmod_rules,
                                         &compare_rules, &select_rules, &factor_rules,
                                         &spread_rules, &merge_rules),
                         name_of);

// Rules that look at a whole sum or condition: random expressions meet them.
// How often each rule applied, by what it says and where it stands.
class Hits : public RewriteTrace {
 public:
  void applied(std::string_view, const Rule& rule, const Node*, const Node*) override {
    ++counts_[rule.str()];
  }
  int of(const Rule& rule) const {
    const auto found = counts_.find(rule.str());
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, int> counts_;
};

TEST(RuleProperty, RandomExpressionsMeetTheFunctions) {
  Hits hits;
  Arena arena;
  const InternerScope scope(arena);
  for (std::uint64_t seed = first_seed; seed < first_seed + 4000; ++seed) {
    arena.reset();
    RandomExpression random(seed);
    const UOp root = seed % 4 == 0   ? random.gated_index()
                     : seed % 4 == 1 ? random.condition()
                                     : random.integer();
    rewrite(root, symbolic(), {.trace = &hits});
  }
  std::vector<std::string> never;
  for (const Rule& rule : symbolic().rules())
    if (hits.of(rule) == 0 && !is_algebraic(rule) && try_rule(rule, 1) == 0)
      never.push_back(rule.str());
  // Two apply only where a condition is known, to what stands within an INDEX; one to loops
  // and one to lists, which these expressions do not have (tests/text/loops.weft).
  EXPECT_LE(never.size(), 4u) << fmt::format("{}", fmt::join(never, "\n"));
}

}  // namespace
}  // namespace weft
