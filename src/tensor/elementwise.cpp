// Ops on each element that the IR has as such: dtypes and shapes are brought together first.

#include <fmt/format.h>
#include <weft/dev/rules/custom_op.h>
#include <weft/error.h>

#include "functions.h"

namespace weft {
namespace {

Tensor arithmetic(std::string_view op, const Operand& a, const Operand& b,
                  UOp (*compute)(const UOp&, const UOp&)) {
  return elementwise(op, a, b, joint(a, b), compute);
}

// A literal that the tensor's integers cannot be: below all of them, or above.
std::optional<std::int64_t> beyond(const Operand& operand, DType dtype) {
  const UOp& value = operand.uop();
  if (!value->is_const() || !value->dtype().is_index() || can_be(dtype, value->lo())) return {};
  return value->lo();
}

// With such a literal all elements compare as one does.
Tensor comparison(std::string_view op, const Operand& a, const Operand& b,
                  UOp (*compute)(const UOp&, const UOp&)) {
  const DType dtype = joint(a, b);
  const auto left = beyond(a, dtype), right = beyond(b, dtype);
  if (!left && !right) return elementwise(op, a, b, dtype, compute);
  const Sizes sizes = broadcast_sizes(op, {a.uop(), b.uop()});
  const UOp alike = compute(const_int(left ? *left : 0), const_int(right ? *right : 0));
  return result(op, broadcast(op, reshaped(alike, Sizes(sizes.size(), const_int(1))), sizes),
                {&a, &b});
}

Tensor on_bits(std::string_view op, const Operand& a, const Operand& b,
               UOp (*compute)(const UOp&, const UOp&)) {
  const DType dtype = joint(a, b);
  if (dtype.is_float())
    user_error(fmt::format("{}: of {} and {}: only integers and bools have bits to combine", op,
                           a.uop()->dtype().str(), b.uop()->dtype().str()));
  return elementwise(op, a, b, dtype, compute);
}

UOp shift(Op op, const UOp& a, const UOp& b) { return make(op, {a, b}); }

// MOD has the sign of the dividend; a remainder of the other sign is one divisor further.
UOp python_mod(const UOp& a, const UOp& b) {
  if (a->dtype().is_bool()) user_error("mod: not for bools");
  if (!a->dtype().is_float()) return a % b;
  const UOp rest = a % b, zero = const_int(0, a->dtype());
  return where((rest != zero) & ((rest < zero) != (b < zero)), rest + b, rest);
}

}  // namespace

#define WEFT_BINARY(name, symbol, apply)                                              \
  Tensor operator symbol(const Operand& a, const Operand& b) {                        \
    const Called called(#name);                                                       \
    return apply(#name, a, b, [](const UOp& x, const UOp& y) { return x symbol y; }); \
  }
WEFT_BINARY(add, +, arithmetic)
WEFT_BINARY(mul, *, arithmetic)
WEFT_BINARY(bitwise_and, &, on_bits)
WEFT_BINARY(bitwise_or, |, on_bits)
WEFT_BINARY(bitwise_xor, ^, on_bits)
WEFT_BINARY(lt, <, comparison)
WEFT_BINARY(gt, >, comparison)
WEFT_BINARY(le, <=, comparison)
WEFT_BINARY(ge, >=, comparison)
WEFT_BINARY(eq, ==, comparison)
WEFT_BINARY(ne, !=, comparison)
#undef WEFT_BINARY

Tensor operator-(const Operand& a, const Operand& b) {
  const Called called("sub");
  if (joint(a, b).is_bool()) user_error("sub: not for bools: use ^ or logical_not");
  return arithmetic("sub", a, b, [](const UOp& x, const UOp& y) { return x - y; });
}

Tensor operator/(const Operand& a, const Operand& b) {
  const Called called("div");
  return elementwise("div", a, b, float_like(joint(a, b)),
                     [](const UOp& x, const UOp& y) { return x / y; });
}

Tensor operator%(const Operand& a, const Operand& b) {
  return Called("mod"), arithmetic("mod", a, b, python_mod);
}

Tensor operator<<(const Operand& a, const Operand& b) {
  const Called called("lshift");
  return on_bits("lshift", a, b, [](const UOp& x, const UOp& y) { return shift(Op::Shl, x, y); });
}
Tensor operator>>(const Operand& a, const Operand& b) {
  const Called called("rshift");
  return on_bits("rshift", a, b, [](const UOp& x, const UOp& y) { return shift(Op::Shr, x, y); });
}

Tensor operator-(const Tensor& a) { return a.neg(); }
Tensor operator~(const Tensor& a) { return a.bitwise_not(); }
Tensor operator!(const Tensor& a) { return a.logical_not(); }

Tensor Tensor::add(const Operand& other) const { return Called(), *this + other; }
Tensor Tensor::sub(const Operand& other) const { return Called(), *this - other; }
Tensor Tensor::mul(const Operand& other) const { return Called(), *this * other; }
Tensor Tensor::div(const Operand& other) const { return Called(), *this / other; }
Tensor Tensor::mod(const Operand& other) const { return Called(), *this % other; }
Tensor Tensor::eq(const Operand& other) const { return Called(), *this == other; }
Tensor Tensor::ne(const Operand& other) const { return Called(), *this != other; }
Tensor Tensor::lt(const Operand& other) const { return Called(), *this < other; }
Tensor Tensor::le(const Operand& other) const { return Called(), *this <= other; }
Tensor Tensor::gt(const Operand& other) const { return Called(), *this > other; }
Tensor Tensor::ge(const Operand& other) const { return Called(), *this >= other; }

Tensor Tensor::maximum(const Operand& other) const {
  const Called called;
  return arithmetic("maximum", *this, other,
                    [](const UOp& x, const UOp& y) { return weft::max(x, y); });
}

Tensor Tensor::minimum(const Operand& other) const {
  const Called called;
  return arithmetic("minimum", *this, other,
                    [](const UOp& x, const UOp& y) { return weft::min(x, y); });
}

Tensor Tensor::where(const Operand& yes, const Operand& no) const {
  const Called called;
  const Operand given(*this), condition(converted(given.uop(), dtypes::bool_), given.device, false);
  const DType dtype = joint(yes, no);
  const Sizes sizes = broadcast_sizes("where", {condition.uop(), yes.uop(), no.uop()});
  const auto ready = [&](const UOp& value) {
    return broadcast("where", converted(value, dtype), sizes);
  };
  return result(
      "where",
      weft::where(broadcast("where", condition.uop(), sizes), ready(yes.uop()), ready(no.uop())),
      {&condition, &yes, &no});
}

Tensor Tensor::logical_and(const Operand& other) const {
  const Called called;
  return elementwise("logical_and", *this, other, dtypes::bool_,
                     [](const UOp& x, const UOp& y) { return x & y; });
}

Tensor Tensor::logical_or(const Operand& other) const {
  const Called called;
  return elementwise("logical_or", *this, other, dtypes::bool_,
                     [](const UOp& x, const UOp& y) { return x | y; });
}

Tensor Tensor::logical_not() const {
  const Called called;
  const Operand x(*this);
  return result("logical_not", !converted(x.uop(), dtypes::bool_), {&x});
}

Tensor Tensor::bitwise_not() const {
  const Called called;
  const DType own = dtype();
  if (own.is_float()) user_error(fmt::format("bitwise_not: not for {}", own.str()));
  if (own.is_bool()) return logical_not();
  if (own.is_unsigned()) return *this ^ (~std::uint64_t{0} >> (64 - own.bits()));
  return *this ^ -1;
}

Tensor Tensor::neg() const {
  const Called called;
  const Operand x(*this);
  if (x.uop()->dtype().is_bool()) user_error("neg: not for bools: use logical_not");
  return result("neg", -x.uop(), {&x});
}

Tensor Tensor::trunc() const {
  const Called called;
  const Operand x(*this);
  return result("trunc", make(Op::Trunc, {x.uop()}), {&x});
}

Tensor Tensor::reciprocal() const {
  return Called(), float_unary(*this, [](const UOp& x) { return make(Op::Recip, {x}); });
}
Tensor Tensor::sqrt() const {
  return Called(), float_unary(*this, [](const UOp& x) { return make(Op::Sqrt, {x}); });
}
Tensor Tensor::exp2() const {
  return Called(), float_unary(*this, [](const UOp& x) { return make(Op::Exp2, {x}); });
}
Tensor Tensor::log2() const {
  return Called(), float_unary(*this, [](const UOp& x) { return make(Op::Log2, {x}); });
}
Tensor Tensor::sin() const {
  return Called(), float_unary(*this, [](const UOp& x) { return make(Op::Sin, {x}); });
}
Tensor Tensor::cos() const {
  return Called(), float_unary(*this, [](const UOp& x) { return make(Op::Cos, {x}); });
}

namespace {

// Exact, by squaring; what is too large wraps.
Tensor integer_power(const Tensor& base, std::uint64_t exponent) {
  Tensor power = base.ones_like();
  for (Tensor square = base; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power = power * square;
    if (exponent > 1) square = square * square;
  }
  return power;
}

// The same by the bits of each exponent. Of what is below 0 only 1 and -1 have powers that are integers;
// the others are rounded to 0.
Tensor integer_power(const Tensor& base, const Tensor& exponent) {
  const DType dtype = base.dtype();
  Tensor power = base.ones_like(), square = base;
  for (int bit = 0; bit < dtype.bits(); ++bit) {
    power = (((exponent >> bit) & 1) != 0).where(power * square, power);
    square = square * square;
  }
  const bool has_negatives = dtype.is_int() && !dtype.is_unsigned();
  return has_negatives ? ((exponent < 0) & (base != 1) & (base != -1)).where(0, power) : power;
}

}  // namespace

Tensor Tensor::pow(const Operand& exponent) const {
  const Called called;
  const DType dtype = joint(*this, exponent);
  if (dtype.is_float())
    return elementwise("pow", *this, exponent, dtype,
                       [](const UOp& x, const UOp& y) { return make(Op::Pow, {x, y}); });
  if (!exponent.uop()->is_const()) {
    const auto [base, by] = brought_together("pow", *this, exponent, dtype);
    return integer_power(base, by);
  }
  const std::int64_t power =
      int_from_bits(exponent.uop()->arg<ConstArg>().bits, exponent.uop()->dtype());
  if (power < 0)
    user_error(fmt::format("pow: integers to the power {}: cast to a float first", power));
  return integer_power(cast(dtype), static_cast<std::uint64_t>(power));
}

Tensor Tensor::custom(std::string_view op, const std::vector<Tensor>& operands) {
  const Called called(op);
  const std::vector<Operand> values(operands.begin(), operands.end());
  std::vector<UOp> src;
  std::vector<const Operand*> from;
  for (const Operand& value : values) {
    src.push_back(value.uop());
    from.push_back(&value);
  }
  return result(op, custom_op(op, src), from);
}

Tensor Tensor::ufix(const Operand& other) const {
  const Called called;
  if (!other.device.empty()) return from(other);
  const Operand own(*this);
  return from({converted(other.uop(), settled(promote(own.uop()->dtype(), other.uop()->dtype()))),
               own.device, false});
}

Tensor Tensor::usum(const std::vector<Tensor>& others) const {
  const Called called;
  Tensor sum = *this;
  for (const Tensor& other : others) sum = sum + other;
  return sum;
}

Tensor Tensor::uprod(const std::vector<Tensor>& others) const {
  const Called called;
  Tensor product = *this;
  for (const Tensor& other : others) product = product * other;
  return product;
}

}  // namespace weft
