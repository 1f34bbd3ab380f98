#include <weft/dev/ir/uop.h>

#include <algorithm>

#include <fmt/core.h>
#include <weft/error.h>

namespace weft {

UOp UOp::adopt(const Node* node) {
  UOp result;
  result.node_ = node;
  return result;
}

namespace {

void check_arity(Op op, std::size_t count) {
  const Arity arity = info(op).arity;
  if (!arity.admits(count))
    user_error(fmt::format("{}: {} sources, but it takes {}{}", info(op).name, count,
                           arity.exact ? "" : "at least ", arity.least));
}

std::string_view allowed_text(Op op) {
  if (has(op, OpFlag::Int)) return "integers";
  if (has(op, OpFlag::Float)) return "floats";
  return has(op, OpFlag::U64) ? "u64" : "integers and bools";
}

void check_operands(Op op, NodeList src) {
  if (!has(op, OpFlag::Operands)) return;
  const bool is_scaled = info(op).dtype == DTypeRule::Scaled;  // by what is no such operand
  for (const Node* source : is_scaled ? src.first(1) : src)
    if (!allows(op, source->dtype()))
      user_error(fmt::format("{}: not for {}, only for {}", info(op).name, source->dtype().str(),
                             allowed_text(op)));
}

void want_same(Op op, const Node* a, const Node* b) {
  if (a->dtype() != b->dtype())
    user_error(fmt::format("{}: dtypes {} and {} differ", info(op).name, a->dtype().str(),
                           b->dtype().str()));
}

// A place has the lanes of its indices, which a single index or condition serves all.
DType place_dtype(Op op, NodeList src) {
  std::uint32_t lanes = 1;
  for (const Node* source : src.subspan(1)) lanes = std::max(lanes, source->dtype().lanes());
  if (lanes == 1) return src[0]->dtype();
  for (const Node* source : src.subspan(1))
    if (const std::uint32_t own = source->dtype().lanes(); own != 1 && own != lanes)
      user_error(fmt::format("{}: indices of {} and {} lanes", info(op).name, own, lanes));
  if (src[0]->dtype().lanes() != 1)
    user_error(fmt::format("{}: a buffer of {} takes one index for each dimension, not {} lanes",
                           info(op).name, src[0]->dtype().str(), lanes));
  return src[0]->dtype().vec(lanes);
}

}  // namespace

DType infer_dtype(Op op, NodeList src, DType given) {
  check_arity(op, src.size());
  check_operands(op, src);
  switch (info(op).dtype) {
    case DTypeRule::Given: return given;
    case DTypeRule::Void: return dtypes::void_;
    case DTypeRule::First: return src[0]->dtype();
    case DTypeRule::Lane: return src[0]->dtype().scalar();
    case DTypeRule::Place: return place_dtype(op, src);
    case DTypeRule::Stack:
      for (const Node* source : src) want_same(op, src[0], source);
      if (src[0]->dtype().bits() == 0 || src[0]->dtype().lanes() != 1)
        user_error(fmt::format("stack: {} is not the dtype of a lane", src[0]->dtype().str()));
      if (src.size() > DType::most_lanes)
        user_error(fmt::format("stack: {} sources, but a vector has at most {} lanes", src.size(),
                               DType::most_lanes));
      return src[0]->dtype().vec(static_cast<std::uint32_t>(src.size()));
    case DTypeRule::Same:
      for (const Node* source : src) want_same(op, src[0], source);
      return src[0]->dtype();
    case DTypeRule::Bool:
      want_same(op, src[0], src[1]);
      return dtypes::bool_.vec(src[0]->dtype().lanes());
    case DTypeRule::Scaled:
      if (src[1]->dtype() != dtypes::i32.vec(src[0]->dtype().lanes()))
        user_error(fmt::format("{}: by {}, not by an i32 for each lane", info(op).name,
                               src[1]->dtype().str()));
      return src[0]->dtype();
    case DTypeRule::Where:
      want_same(op, src[1], src[2]);
      if (!src[0]->dtype().is_bool())
        user_error(fmt::format("where: the condition is {}, not bool", src[0]->dtype().str()));
      return src[1]->dtype();
  }
  internal_error("an op without a dtype rule");
}

std::vector<const Node*> nodes_of(std::span<const UOp> uops) {
  std::vector<const Node*> nodes;
  nodes.reserve(uops.size());
  for (const UOp& uop : uops) nodes.push_back(uop.node());
  return nodes;
}

UOp make_uop(Op op, std::span<const UOp> src, DType given, ArgType type, const void* arg) {
  if (type != info(op).arg)
    user_error(fmt::format("{}: the arg is not the op's own struct", info(op).name));
  const auto nodes = nodes_of(src);
  if (std::ranges::find(nodes, nullptr) != nodes.end())
    user_error(fmt::format("{}: a source is a null handle", info(op).name));
  return UOp::adopt(make_node(Interner::current(), op, nodes, given, arg));
}

const Node* make_node(Interner& interner, Op op, NodeList src, DType given, const void* arg) {
  return interner.intern({op, infer_dtype(op, src, given), src, arg});
}

const Node* make_const(Interner& interner, DType dtype, Bits bits) {
  const ConstArg arg{canonical_bits(bits, dtype)};
  return interner.intern({Op::Const, dtype, {}, &arg});
}

UOp const_bits(DType dtype, Bits bits) {
  return UOp::adopt(make_const(Interner::current(), dtype, bits));
}

UOp const_int(std::int64_t value, DType dtype) {
  return const_bits(dtype, bits_from_int(value, dtype.scalar()));
}

UOp const_float(double value, DType dtype) {
  return const_bits(dtype, bits_from_double(value, dtype.scalar()));
}

UOp const_bool(bool value) { return const_bits(dtypes::bool_, value ? 1 : 0); }

UOp range(const UOp& size, std::uint64_t id, LoopKind kind) {
  return make(Op::Range, {size}, dtypes::void_, RangeArg{{id}, kind});
}

UOp range(std::int64_t size, std::uint64_t id, LoopKind kind) {
  return range(const_int(size), id, kind);
}

namespace {

// The bounds of a variable are values of its dtype, and held as i64.
void check_bounds(std::string_view name, std::int64_t lo, std::int64_t hi, DType dtype) {
  const Interval own = dtype_interval(dtype), bounds = dtype_interval(dtypes::i64);
  const Interval values{std::max(own.lo, bounds.lo), std::min(own.hi, bounds.hi)};
  if (!values.contains(lo) || !values.contains(hi))
    user_error(fmt::format(
        "variable {}: the bounds {} and {} are not among {} to {}, what variables of {} can hold",
        name, lo, hi, static_cast<std::int64_t>(values.lo), static_cast<std::int64_t>(values.hi),
        dtype.str()));
}

}  // namespace

UOp Variable(std::string_view name, std::int64_t lo, std::int64_t hi, DType dtype) {
  if (dtype.is_int()) check_bounds(name, lo, hi, dtype);
  if (lo > hi)
    user_error(fmt::format("variable {}: the bounds {} and {} hold nothing", name, lo, hi));
  return make(Op::Variable, {}, dtype, VariableArg{Symbol(std::string(name)), fresh_id(), lo, hi});
}

UOp UOp::bind(std::int64_t value) const {
  if (is_null() || node_->op() != Op::Variable) user_error("bind: this is no Variable");
  const auto& arg = node_->arg<VariableArg>();
  if (value < arg.lo || value > arg.hi)
    user_error(fmt::format("bind: variable {} is from {} to {}, not {}", arg.name.get(), arg.lo,
                           arg.hi, value));
  return make(Op::Bind, {*this, const_int(value, node_->dtype())});
}

UOp tuple(const std::vector<UOp>& members) { return make(Op::Tuple, members); }

UOp sizes(std::initializer_list<std::int64_t> values) {
  std::vector<UOp> members;
  for (std::int64_t value : values) members.push_back(const_int(value));
  return tuple(members);
}

namespace {

// Not through make(): these are the hot ones, and need no list.
// A literal that meets a value takes its dtype, if it is one of its values.
UOp beside(const UOp& literal, const UOp& value) {
  const DType from = literal->dtype(), to = value->dtype();
  if (!literal->is_const() || !from.is_weak() || to.is_weak() || from.lanes() != to.lanes())
    return literal;
  const Bits own = literal->arg<ConstArg>().bits, bits = convert(own, from, to);
  const bool holds = to.is_float() || convert(bits, to, from) == own;
  return holds ? const_bits(to, bits) : literal;
}

UOp binary(Op op, const UOp& a, const UOp& b) {
  if (a->dtype() != b->dtype() && (a->is_const() || b->is_const())) {
    const UOp left = beside(a, b), right = beside(b, a);
    if (!left.is(a) || !right.is(b)) return binary(op, left, right);
  }
  const Node* src[] = {a.node(), b.node()};
  return UOp::adopt(make_node(Interner::current(), op, src));
}

}  // namespace

UOp operator+(const UOp& a, const UOp& b) { return binary(Op::Add, a, b); }
UOp operator-(const UOp& a, const UOp& b) { return binary(Op::Sub, a, b); }
UOp operator*(const UOp& a, const UOp& b) { return binary(Op::Mul, a, b); }
UOp operator/(const UOp& a, const UOp& b) {
  return binary(a->dtype().is_float() ? Op::Div : Op::FloorDiv, a, b);
}
UOp operator%(const UOp& a, const UOp& b) {
  return binary(a->dtype().is_float() ? Op::Mod : Op::FloorMod, a, b);
}
UOp operator<(const UOp& a, const UOp& b) { return binary(Op::CmpLt, a, b); }
UOp operator>(const UOp& a, const UOp& b) { return b < a; }
UOp operator<=(const UOp& a, const UOp& b) {
  return a->dtype().is_float() ? (a < b) | (a == b) : !(b < a);  // NaN <= NaN is false
}
UOp operator>=(const UOp& a, const UOp& b) { return b <= a; }
UOp operator!=(const UOp& a, const UOp& b) { return binary(Op::CmpNe, a, b); }
UOp operator==(const UOp& a, const UOp& b) { return binary(Op::CmpEq, a, b); }
UOp operator&(const UOp& a, const UOp& b) { return binary(Op::And, a, b); }
UOp operator|(const UOp& a, const UOp& b) { return binary(Op::Or, a, b); }
UOp operator^(const UOp& a, const UOp& b) { return binary(Op::Xor, a, b); }
UOp operator-(const UOp& a) { return make(Op::Neg, {a}); }
UOp operator!(const UOp& a) {
  if (!a->dtype().is_bool())
    user_error(fmt::format("!: the operand is {}, not bool", a->dtype().str()));
  return a != const_int(1, a->dtype());
}

UOp literal_like(std::int64_t value, const UOp& other) { return const_int(value, other->dtype()); }

UOp literal_like(double value, const UOp& other) {
  if (!other->dtype().is_float())
    user_error(fmt::format("the literal {} meets a value of {}, which cannot hold it: cast first",
                           value, other->dtype().str()));
  return const_float(value, other->dtype());
}

UOp max(const UOp& a, const UOp& b) { return binary(Op::Max, a, b); }

UOp min(const UOp& a, const UOp& b) {
  const UOp left = beside(a, b), right = beside(b, a);
  return left->dtype().is_float() ? -max(-left, -right) : where(left < right, left, right);
}

UOp where(const UOp& condition, const UOp& yes, const UOp& no) {
  return make(Op::Where, {condition, beside(yes, no), beside(no, yes)});
}

UOp cast(const UOp& value, DType dtype) {
  return value->dtype() == dtype ? value : make(Op::Cast, {value}, dtype);
}

UOp bitcast(const UOp& value, DType dtype) {
  return value->dtype() == dtype ? value : make(Op::Bitcast, {value}, dtype);
}

}  // namespace weft
