// Bounds and exactness of integer nodes against all values of operands that are independent.

#include <algorithm>
#include <functional>
#include <random>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>

#include "../support/random_expression.h"
#include "../support/values.h"

namespace weft {
namespace {

using namespace dtypes;

Wide wide(Bits bits, DType dtype) {
  return dtype.kind() == Kind::U64 ? Wide{bits} : Wide{static_cast<std::int64_t>(bits)};
}

Interval all_of(DType dtype) {
  return {wide(lowest_bits(dtype), dtype), wide(highest_bits(dtype), dtype)};
}

std::string text_of(Interval i) {
  const auto number = [](Wide value) {
    return value < 0 ? fmt::format("-{}", static_cast<std::uint64_t>(-value))
                     : fmt::format("{}", static_cast<std::uint64_t>(value));
  };
  return fmt::format("{}..{}", number(i.lo), number(i.hi));
}

// A leaf and every value that it can take.
struct Operand {
  UOp node;
  std::vector<Bits> values;
};

class RandomOperands {
 public:
  explicit RandomOperands(std::uint64_t seed) : random_(seed) {}

  Operand operator()(DType dtype) {
    const Interval all = all_of(dtype);
    const auto id = next_id_++;
    if (between(0, 3) == 0) {
      const std::int64_t size = dtype.is_bool() ? 1 : between(1, 9);
      return {range(const_int(size, dtype), id), span(0, static_cast<int>(size))};
    }
    const Wide edges[] = {all.lo, all.hi, -6, -1, 0, 1, 5, 120};
    const Wide start = std::clamp(edges[between(0, 7)] + between(-3, 3), all.lo, all.hi);
    const auto most = static_cast<std::int64_t>(std::min<Wide>(all.hi - start, 8));
    const std::int64_t more = between(0, 3) == 0 ? 0 : between(0, most);
    const auto lo = static_cast<std::int64_t>(start);
    const std::vector<Bits> values = span(static_cast<Bits>(lo), static_cast<int>(more) + 1);
    // A VARIABLE's limits are 64 bits with sign, too few for the largest of u64.
    const bool is_beyond = dtype.is_unsigned() && lo + more < 0;
    if (more == 0 || is_beyond) return {const_bits(dtype, values[0]), {values[0]}};
    return {make(Op::Variable, {}, dtype, VariableArg{Symbol("v"), {id}, lo, lo + more}), values};
  }

 private:
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  static std::vector<Bits> span(Bits first, int count) {
    std::vector<Bits> values;
    for (int i = 0; i < count; ++i) values.push_back(first + static_cast<Bits>(i));
    return values;
  }

  std::mt19937_64 random_;
  std::uint64_t next_id_ = 0;
};

// The results of the op on all values of the operands, and whether any of them wrapped.
struct Outcome {
  Interval values;
  bool wraps = false;
};

// Whether the mathematical result is no value of the dtype.
bool wraps(Op op, const Wide* x, DType dtype) {
  Wide result = 0;
  switch (op) {
    case Op::Neg: result = -x[0]; break;
    case Op::Add: result = x[0] + x[1]; break;
    case Op::Sub: result = x[0] - x[1]; break;
    case Op::Mul: result = x[0] * x[1]; break;
    case Op::MulAcc: result = x[0] * x[1] + x[2]; break;
    case Op::CDiv:
    case Op::FloorDiv: result = x[1] == -1 ? -x[0] : 0; break;
    case Op::Shl: result = x[1] >= 0 && x[1] < dtype.bits() ? x[0] * (Wide{1} << x[1]) : 0; break;
    default: break;
  }
  return !all_of(dtype).contains(result);
}

Outcome outcome_of(Op op, DType dtype, const std::vector<Operand>& operands) {
  Outcome outcome{{1, 0}};
  const DType result_dtype = has(op, OpFlag::Compare) ? bool_ : dtype;
  std::vector<std::size_t> at(operands.size());
  for (bool more = true; more;) {
    Bits bits[3];
    Wide values[3];
    for (std::size_t i = 0; i < at.size(); ++i) {
      bits[i] = operands[i].values[at[i]];
      values[i] = wide(bits[i], dtype);
    }
    const Wide result = wide(*evaluate(op, dtype, std::span(bits).first(at.size())), result_dtype);
    Interval& seen = outcome.values;
    seen = seen.lo > seen.hi ? Interval{result, result}
                             : Interval{std::min(seen.lo, result), std::max(seen.hi, result)};
    outcome.wraps = outcome.wraps || (!dtype.is_bool() && wraps(op, values, dtype));
    more = false;
    for (std::size_t i = 0; i < at.size() && !more; ++i) {
      more = ++at[i] < operands[i].values.size();
      if (!more) at[i] = 0;
    }
  }
  return outcome;
}

// Whether the bounds are the least that hold, where nothing wraps.
bool is_tight(Op op, const std::vector<Operand>& operands) {
  const DType dtype = operands.back().node->dtype();
  const Interval last = operands.back().node->bounds();
  switch (op) {
    case Op::Neg:
    case Op::Trunc:
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::MulAcc:
    case Op::Max:
    case Op::FloorDiv:
    case Op::CDiv:
    case Op::CmpLt:
    case Op::CmpEq:
    case Op::CmpNe:
    case Op::Where: return true;
    case Op::FloorMod: return last.is_point();
    case Op::Shl:
    case Op::Shr: return last.lo >= 0 && last.hi < dtype.bits();
    default: return dtype.is_bool();
  }
}

bool is_arithmetic(Op op) {
  return op == Op::Neg || op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::MulAcc;
}

bool is_allowed(Op op, DType dtype) {
  if (!is_elementwise(op) || op == Op::Cast || op == Op::Bitcast || op == Op::Threefry)
    return false;
  return allows(op, dtype);
}

TEST(Bounds, HoldForAllValuesOfTheOperands) {
  int checked = 0;
  for (DType dtype : {bool_, i8, u8, i64, u64, dtypes::index})
    for (int i = 0; i < op_count; ++i) {
      const Op op = static_cast<Op>(i);
      if (!is_allowed(op, dtype)) continue;
      for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        SCOPED_TRACE(fmt::format("{} of {}, seed {}", info(op).name, dtype.str(), seed));
        Arena arena;
        const InternerScope scope(arena);
        RandomOperands random(seed);
        std::vector<Operand> operands;
        std::vector<UOp> src;
        for (int k = 0; k < info(op).arity.least; ++k) {
          operands.push_back(random(op == Op::Where && k == 0 ? bool_ : dtype));
          src.push_back(operands.back().node);
        }
        const UOp node = make(op, src);
        const Outcome outcome = outcome_of(op, dtype, operands);
        const Interval bounds = node->bounds();
        SCOPED_TRACE(fmt::format("{}: bounds {}, values {}", expression_text(node.node()),
                                 text_of(bounds), text_of(outcome.values)));
        ASSERT_TRUE(bounds.lo <= outcome.values.lo && outcome.values.hi <= bounds.hi);
        ASSERT_TRUE(all_of(node->dtype()).contains(bounds.lo) &&
                    all_of(node->dtype()).contains(bounds.hi));
        ASSERT_FALSE(node->is_exact() && outcome.wraps);
        if (is_arithmetic(op)) {
          ASSERT_TRUE(node->is_exact() || outcome.wraps);
        }
        if (node->is_exact() && is_tight(op, operands)) {
          ASSERT_EQ(bounds, outcome.values);
        }
        ++checked;
      }
    }
  EXPECT_GT(checked, 9000);
}

TEST(Bounds, HoldInRandomExpressions) {
  for (DType dtype : {dtypes::index, i8, u8, i32, u64})
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      Arena arena;
      const InternerScope scope(arena);
      RandomExpression random(seed, dtype);
      Values values({random.integer(), random.condition()});
      const bool held = values.for_each(
          seed, 200, [&](const std::vector<Bits>&) { return values.out_of_bounds() == nullptr; });
      ASSERT_TRUE(held) << fmt::format("seed {} of {}: {} is outside its bounds under {}", seed,
                                       dtype.str(), expression_text(values.out_of_bounds()),
                                       values.assignment());
    }
}

TEST(Bounds, OfSumsOverRangesHold) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Arena arena;
    const InternerScope scope(arena);
    std::mt19937_64 random(seed);
    const auto between = [&](int lo, int hi) {
      return lo + static_cast<int>(random() % static_cast<unsigned>(hi - lo + 1));
    };
    const auto reduced = [](Op op, const UOp& body, const UOp& range) {
      return make(Op::Reduce, {body, range}, {}, ReduceArg{op, {}});
    };
    // `size` iterations of a body in lo..hi that may change with each.
    const int lo = between(-4, 3), hi = lo + between(0, 3), least = between(0, 2),
              most = least + between(0, 3);
    const UOp size =
        make(Op::Variable, {}, dtypes::index, VariableArg{Symbol("n"), {1}, least, most});
    const UOp body = make(Op::Variable, {}, dtypes::index, VariableArg{Symbol("x"), {2}, lo, hi});
    const UOp loop = range(size, 0);
    const Interval sum = reduced(Op::Add, body, loop)->bounds();
    EXPECT_EQ(sum.lo, Wide{std::min(lo * least, lo * most)});
    EXPECT_EQ(sum.hi, Wide{std::max(hi * least, hi * most)});
    // Of no iterations a maximum is the lowest value.
    const Interval most_of = reduced(Op::Max, body, loop)->bounds();
    EXPECT_EQ(most_of, least > 0 ? (Interval{lo, hi}) : all_of(dtypes::index));
  }
}

struct Case {
  std::string_view what;
  UOp node;
  Interval bounds;
};

void check(const std::vector<Case>& cases) {
  for (const auto& [what, node, bounds] : cases)
    EXPECT_EQ(node->bounds(), bounds) << what << ": " << text_of(node->bounds());
}

TEST(Bounds, FollowWhatOpsPassOn) {
  const UOp v = make(Op::Variable, {}, i8, VariableArg{Symbol("v"), {1}, 2, 9});
  const UOp w = make(Op::Variable, {}, i8, VariableArg{Symbol("w"), {2}, -3, 4});
  const UOp size = const_int(4), x = make(Op::Reshape, {v, tuple({})});
  const UOp big = const_bits(u64, ~Bits{0});
  const Interval all{-128, 127};
  const auto variable = [](DType dtype, std::int64_t lo, std::int64_t hi) {
    return make(Op::Variable, {}, dtype, VariableArg{Symbol("u"), {3}, lo, hi});
  };
  check({
      {"range", range(10, 0), {0, 9}},
      {"range over nothing", range(0, 0), {0, 0}},
      {"range over a symbolic size", range(cast(v, dtypes::index), 0), {0, 8}},
      {"special", make(Op::Special, {size}, {}, SpecialArg{}), {0, 3}},
      {"variable too wide for its dtype", variable(i8, 0, 200), all},
      {"variable of nothing", variable(i8, 5, 3), all},
      {"stack", make(Op::Stack, {v, w, v}), {-3, 9}},
      {"splat", make(Op::Splat, {v}, i8.vec(4)), {2, 9}},
      {"lane", make(Op::Lane, {make(Op::Stack, {v, w})}, {}, PositionArg{1}), {-3, 9}},
      {"shuffle", make(Op::Shuffle, {v, const_int(0, i32)}), {2, 9}},
      {"bind", make(Op::Bind, {v, const_int(3, i8)}), {2, 9}},
      {"remat", make(Op::Remat, {v}, {}, IdArg{}), {2, 9}},
      {"copy", make(Op::Copy, {v}, {}, DeviceArg{}), {2, 9}},
      {"stage", make(Op::Stage, {v}, {}, StageArg{}), {2, 9}},
      {"reshape", x, {2, 9}},
      {"pad", make(Op::Pad, {v, tuple({}), tuple({})}), {0, 9}},
      {"load", make(Op::Load, {v}), {0, 9}},
      {"load with another value", make(Op::Load, {v, w}), {-3, 9}},
      {"product over a range", make(Op::Reduce, {v, range(2, 0)}, {}, ReduceArg{Op::Mul, {}}), all},
      {"sum over an axis",
       make(Op::Reduce, {make(Op::Param, {size}, i8, ParamArg{})}, {},
            ReduceArg{Op::Add, IntList({0})}),
       all},
      {"custom", make(Op::Custom, {v}, i8, CustomArg{}), all},
      {"cast that fits", cast(v, u8), {2, 9}},
      {"cast that wraps", cast(w, u8), {0, 255}},
      {"cast to bool", cast(v, bool_), {1, 1}},
      {"cast of 0 to bool", cast(const_int(0, i8), bool_), {0, 0}},
      {"cast of a bool", cast(cast(w, bool_), i32), {0, 1}},
      {"cast of a float", cast(const_float(3, f32), i8), all},
      {"bitcast", bitcast(v, u8), {0, 255}},
      {"u64 beyond i64", const_bits(u64, ~Bits{0}), {~Bits{0}, ~Bits{0}}},
      {"product of u64 that leaves 128 bits", make(Op::MulAcc, {big, big, big}), {0, ~Bits{0}}},
      {"product of u64 that nearly does",
       make(Op::MulAcc, {big, const_bits(u64, Bits{1} << 63), big}),
       {0, ~Bits{0}}},
      {"u64 anything", make(Op::Custom, {}, u64, CustomArg{}), {0, ~Bits{0}}},
      {"comparison of floats", const_float(1, f32) < const_float(2, f32), {0, 1}},
      {"where on a known condition", where(const_bool(false), v, w), {-3, 4}},
      {"the lesser of two", where(v < w, v, w), {-3, 4}},
      {"what is less", where(v < const_int(5, i8), v, const_int(0, i8)), {0, 4}},
      {"a multiple of what is less, which may wrap",
       where(v < const_int(5, i8), v * const_int(40, i8), const_int(0, i8)),
       {-128, 127}},
  });
}

// Such graphs parse; only the verifier says that they are wrong.
TEST(Bounds, ClaimNothingAboutGraphsThatMakeNoSense) {
  const UOp v = make(Op::Variable, {}, i8, VariableArg{Symbol("v"), {1}, 2, 9});
  const UOp f = const_float(1, f32), nothing = tuple({});
  const UOp tile = make(Op::Custom, {}, DType::fragment("tile"), CustomArg{});
  check({
      {"reduce over no range", make(Op::Reduce, {v, v}, {}, ReduceArg{}), {-128, 127}},
      {"reduce by no reduction",
       make(Op::Reduce, {v, range(2, 0)}, {}, ReduceArg{Op::Sub, {}}),
       {-128, 127}},
      {"comparison of tuples", make(Op::CmpEq, {nothing, nothing}), {0, 1}},
      {"comparison of fragments", make(Op::CmpEq, {tile, tile}), {0, 1}},
      {"comparison of floats", make(Op::CmpNe, {f, f}), {0, 1}},
      {"sum over a float range", make(Op::Reduce, {v, range(f, 0)}, {}, ReduceArg{}), {-128, 127}},
      {"sum over a range of tuples",
       make(Op::Reduce, {v, range(nothing, 0)}, {}, ReduceArg{}),
       {-128, 127}},
      {"load of another dtype", make(Op::Load, {v, f}), {-128, 127}},
      {"stack of floats", make(Op::Splat, {f}, i8.vec(2)), {-128, 127}},
      {"remat of a float",
       make(Op::Lane, {make(Op::Splat, {f}, i8.vec(2))}, {}, PositionArg{7}),
       {-128, 127}},
      {"index into nothing", make(Op::Index, {v, nothing}), {2, 9}},
  });
}

}  // namespace
}  // namespace weft
