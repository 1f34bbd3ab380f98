// The op table against itself, and its claims about algebra against evaluate().

#include <weft/dev/ir/op.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <weft/dev/ir/args.h>
#include <weft/dev/ir/value.h>

namespace weft {
namespace {

using namespace dtypes;

const std::vector<DType> numbers = {bool_, dtypes::index, i8,     i16,    i32, i64,  u8,  u16, u32,
                                    u64,   weak,          f8e4m3, f8e5m2, f16, bf16, f32, f64};

std::vector<Op> all_ops() {
  std::vector<Op> ops;
  for (int i = 0; i < op_count; ++i) ops.push_back(static_cast<Op>(i));
  return ops;
}

std::vector<DType> allowed(Op op) {
  std::vector<DType> result = numbers;
  std::erase_if(result, [&](DType dtype) { return !allows(op, dtype); });
  return result;
}

// Small numbers, the ends of the dtype, and for floats infinities, NaN and both zeros.
std::vector<Bits> edges(DType dtype) {
  if (dtype.is_bool()) return {0, 1};
  std::set<Bits> values;
  for (std::int64_t value : {-100, -3, -2, -1, 0, 1, 2, 3, 7, 100})
    values.insert(bits_from_int(value, dtype));
  for (Bits value : {lowest_bits(dtype), highest_bits(dtype)}) values.insert(value);
  if (dtype.is_float())
    for (double value : {-0.0, 0.5, -1.5, double(NAN)})
      values.insert(bits_from_double(value, dtype));
  else
    for (Bits value : {lowest_bits(dtype) + 1, highest_bits(dtype) - 1}) values.insert(value);
  return {values.begin(), values.end()};
}

// Nothing for ops within 2 ulp, which have no one value.
std::optional<Bits> apply(Op op, DType dtype, Bits a, Bits b) {
  const Bits operands[] = {a, b};
  return evaluate(op, dtype, operands);
}

bool has_value(Op op) { return op != Op::Pow; }

std::string label(Op op, DType dtype) {
  return fmt::format("{} of {}", info(op).name, dtype.str());
}

TEST(OpTable, NamesAreUniqueAndParseBack) {
  std::set<std::string_view> names;
  for (Op op : all_ops()) {
    EXPECT_TRUE(names.insert(info(op).name).second) << info(op).name;
    EXPECT_EQ(parse_op(info(op).name), op);
    EXPECT_FALSE(info(op).meaning.empty()) << info(op).name;
  }
  for (std::string_view name : {"", "Add", "add ", "addd", "ad"})
    EXPECT_FALSE(parse_op(name)) << name;
}

TEST(OpTable, UniqueOpsAreThoseWithAnIdInTheirArg) {
  for (Op op : all_ops()) {
    int ids = 0;
    with_arg_type(info(op).arg, [&](auto arg) {
      for_each_field(arg, [&](std::string_view name, const auto& value) {
        const bool is_id = std::is_same_v<std::decay_t<decltype(value)>, UniqueId>;
        EXPECT_EQ(is_id, name == "id") << info(op).name;
        ids += is_id;
      });
    });
    EXPECT_EQ(ids, has(op, OpFlag::Unique) ? 1 : 0) << info(op).name;
  }
}

TEST(OpTable, FlagsFitTheClass) {
  for (Op op : all_ops()) {
    SCOPED_TRACE(info(op).name);
    const OpInfo& row = info(op);
    const int sources = row.cls == OpClass::Unary     ? 1
                        : row.cls == OpClass::Binary  ? 2
                        : row.cls == OpClass::Ternary ? 3
                                                      : -1;
    EXPECT_EQ(is_elementwise(op), sources > 0);
    if (sources > 0) {
      EXPECT_TRUE(row.arity.exact);
      EXPECT_EQ(row.arity.least, sources);
      EXPECT_EQ(row.arg, ArgType::NoArg);
      EXPECT_FALSE(has(op, OpFlag::Unique | OpFlag::Closes | OpFlag::Effect));
    }
    const auto implies = [&](bool condition, bool claim) { return !condition || claim; };
    const bool is_algebra = has(op, OpFlag::Commutes | OpFlag::Associates | OpFlag::Compare) ||
                            row.identity != Identity::None;
    EXPECT_TRUE(implies(is_algebra, row.cls == OpClass::Binary));
    EXPECT_TRUE(implies(has(op, OpFlag::Idempotent), has(op, OpFlag::Commutes)));
    EXPECT_TRUE(implies(has(op, OpFlag::Associates), has(op, OpFlag::Commutes)));
    EXPECT_TRUE(implies(has(op, OpFlag::Effect), row.dtype == DTypeRule::Void));
    EXPECT_TRUE(implies(has(op, OpFlag::Operands), is_elementwise(op)));
    EXPECT_EQ(has(op, OpFlag::Compare), row.dtype == DTypeRule::Bool);
    // The other dtype rules look at the first source.
    EXPECT_TRUE(row.dtype == DTypeRule::Given || row.dtype == DTypeRule::Void ||
                row.arity.least >= 1);
  }
}

TEST(OpTable, IdentitiesChangeNothing) {
  int checked = 0;
  for (Op op : all_ops()) {
    const Identity identity = info(op).identity;
    if (identity == Identity::None || !has_value(op)) continue;
    for (DType dtype : allowed(op)) {
      SCOPED_TRACE(label(op, dtype));
      const Bits e = identity_bits(identity, dtype);
      for (Bits x : edges(dtype)) {
        // The exception that the table documents: -0 + +0 is +0.
        const Bits zero = bits_from_int(0, dtype), minus_zero = bits_from_double(-0.0, dtype);
        const bool is_exception = op == Op::Add && dtype.is_float() && x == minus_zero;
        EXPECT_EQ(apply(op, dtype, x, e), is_exception ? zero : x) << x;
        if (has(op, OpFlag::Commutes)) {
          EXPECT_EQ(apply(op, dtype, e, x), is_exception ? zero : x) << x;
        }
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 1000);
}

TEST(OpTable, IdempotentOpsGiveBackTheirOperand) {
  for (Op op : all_ops()) {
    if (!has(op, OpFlag::Idempotent)) continue;
    for (DType dtype : allowed(op))
      for (Bits x : edges(dtype)) EXPECT_EQ(apply(op, dtype, x, x), x) << label(op, dtype);
  }
}

TEST(OpTable, OpsThatAreNotIdempotentSaySo) {
  for (Op op : all_ops()) {
    if (info(op).cls != OpClass::Binary || has(op, OpFlag::Idempotent) || !has_value(op)) continue;
    bool differs = false;
    for (DType dtype : allowed(op))
      for (Bits x : edges(dtype)) differs = differs || apply(op, dtype, x, x) != x;
    EXPECT_TRUE(differs) << info(op).name;
  }
}

// Both directions: an op without the flag has operands that show why.
TEST(OpTable, CommutesSaysWhetherOperandsMaySwap) {
  for (Op op : all_ops()) {
    if (info(op).cls != OpClass::Binary || !has_value(op)) continue;
    int different = 0;
    for (DType dtype : allowed(op))
      for (Bits a : edges(dtype))
        for (Bits b : edges(dtype)) different += apply(op, dtype, a, b) != apply(op, dtype, b, a);
    EXPECT_EQ(different == 0, has(op, OpFlag::Commutes)) << info(op).name;
  }
}

// Of integers and bools; of floats no arithmetic is associative.
TEST(OpTable, AssociatesSaysWhetherParenthesesMayMove) {
  for (Op op : all_ops()) {
    if (info(op).cls != OpClass::Binary || has(op, OpFlag::Float | OpFlag::Compare) ||
        !has_value(op))
      continue;
    int different = 0;
    for (DType dtype : allowed(op)) {
      if (dtype.is_float()) continue;
      const std::vector<Bits> values = edges(dtype);
      for (Bits a : values)
        for (Bits b : values)
          for (Bits c : values)
            different += apply(op, dtype, *apply(op, dtype, a, b), c) !=
                         apply(op, dtype, a, *apply(op, dtype, b, c));
    }
    EXPECT_EQ(different == 0, has(op, OpFlag::Associates)) << info(op).name;
  }
}

TEST(OpTable, FlagsSayWhichDtypesHaveValues) {
  for (Op op : all_ops()) {
    if (info(op).cls != OpClass::Binary || !has_value(op)) continue;
    for (DType dtype : numbers)
      EXPECT_EQ(apply(op, dtype, 0, 0).has_value(), allows(op, dtype)) << label(op, dtype);
  }
}

TEST(OpSet, HoldsOps) {
  constexpr OpSet some{Op::Const, Op::Add, Op::Mma};
  for (Op op : all_ops())
    EXPECT_EQ(some.contains(op), op == Op::Const || op == Op::Add || op == Op::Mma)
        << info(op).name;
  EXPECT_EQ(some, OpSet::where([&](Op op) { return some.contains(op); }));
  EXPECT_NE(some, OpSet{});
}

}  // namespace
}  // namespace weft
