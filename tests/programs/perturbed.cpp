#include "perturbed.h"

#include <bit>
#include <limits>

namespace weft {
namespace {

// Bits of a significand, the hidden one among them.
int precision(DType dtype) {
  switch (dtype.kind()) {
    case Kind::F8E5M2: return 3;
    case Kind::F8E4M3: return 4;
    case Kind::BF16: return 8;
    case Kind::F16: return 11;
    case Kind::F32: return 24;
    default: return 53;
  }
}

Bits sign_bit(DType dtype) { return Bits{1} << (dtype.bits() - 1); }

// A finite number other than 0 is an odd integer times a power of two.
struct Parts {
  double odd;
  int exponent;
};
Parts parts_of(double value) {
  int exponent = 0;
  const auto digits =
      static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(value), &exponent), 53));
  const int zeros = std::countr_zero(digits);
  return {static_cast<double>(digits >> zeros), exponent - 53 + zeros};
}

double largest(DType dtype) {
  const Bits past = bits_from_double(std::numeric_limits<double>::infinity(), dtype);
  return double_from_bits(past - 1, dtype);
}

bool is_inexact(Bits product, const std::vector<Bits>& factors, DType dtype) {
  const double a = double_from_bits(factors[0], dtype), b = double_from_bits(factors[1], dtype);
  return std::fma(a, b, -double_from_bits(product, dtype)) != 0;
}

bool is_product_with_constant(const Node* node) {
  return node->op() == Op::Mul && (node->src(0)->is_const() || node->src(1)->is_const());
}

}  // namespace

namespace {

const Node* behind_views(const Node* node) {
  while (info(node->op()).cls == OpClass::Movement || node->op() == Op::Cast) node = node->src(0);
  return node;
}

}  // namespace

// What is summed may be multiplied in one rounding, and its factors' factors and divisors behind the sum.
void Perturbed::look_at(const Node* root) {
  looked_at_.push_back(without_calls(UOp(root)));
  for (const Node* node : toposort(looked_at_.back().node())) {
    if (node->op() == Op::Exp2 && is_product_with_constant(node->src(0))) powers_.insert(node);
    if (node->op() != Op::Reduce || node->arg<ReduceArg>().op != Op::Add) continue;
    const Node* term = behind_views(node->src(0));
    if (term->op() != Op::Mul) continue;
    terms_.insert(term);
    for (const Node* side : term->src())
      if (const Node* factor = behind_views(side); OpSet{Op::Mul, Op::Div}.contains(factor->op()))
        terms_.insert(factor);
  }
}

Bits Perturbed::any_nan(Bits nan, DType dtype) {
  if (coin()) nan ^= sign_bit(dtype);
  if (dtype.kind() != Kind::F8E4M3 && coin()) nan ^= 1;
  return nan;
}

// Up to so many units in the last place away; 0, infinities and signs stay.
Bits Perturbed::nearby(Bits bits, DType dtype, Bits most) {
  const Bits magnitude = bits & (sign_bit(dtype) - 1);
  const double value = std::abs(double_from_bits(bits, dtype));
  if (magnitude <= most || value >= largest(dtype) / 2) return bits;
  return bits - most + random_() % (2 * most + 1);
}

Bits Perturbed::value_of(const Node* node, DType from, const std::vector<Bits>& bits) {
  const Bits result = Eager::value_of(node, from, bits);
  const DType dtype = node->dtype();
  constexpr OpSet keep_nan{Op::Neg, Op::Where, Op::Bitcast, Op::Cast};
  if (!dtype.is_float() || keep_nan.contains(node->op())) return result;
  if (std::isnan(double_from_bits(result, dtype))) return any_nan(result, dtype);
  const Bits magnitude = result & (sign_bit(dtype) - 1);
  const bool is_finite = std::isfinite(double_from_bits(result, dtype)) && magnitude > 1;
  const bool is_term = terms_.contains(node) && is_finite;
  if (is_term && (node->op() == Op::Div || is_inexact(result, bits, dtype)))
    return result - 1 + random_() % 3;
  constexpr OpSet bounded{Op::Exp2, Op::Log2, Op::Sin, Op::Cos, Op::Pow};
  if (!bounded.contains(node->op())) return result;
  // Half a unit of a large exponent is as many units of the power.
  const double exponent = powers_.contains(node) ? double_from_bits(bits[0], dtype) : 0;
  return nearby(result, dtype, 3 + static_cast<Bits>(std::min(std::abs(exponent), 1e4)));
}

Bits Perturbed::combined(Op op, DType dtype, const std::vector<Bits>& terms) {
  const Bits total = Eager::combined(op, dtype, terms);
  if (!dtype.is_float()) return total;
  if (std::isnan(double_from_bits(total, dtype))) return any_nan(total, dtype);
  if (op == Op::Max) return total;
  std::vector<double> values;
  for (Bits term : terms) values.push_back(double_from_bits(term, dtype));
  return op == Op::Add ? sum(total, dtype, values) : product(total, dtype, values);
}

// Sums of multiples of one power of two are exact in any order while they have few enough digits.
Bits Perturbed::sum(Bits total, DType dtype, const std::vector<double>& terms) {
  double magnitude = 0, unit = std::numeric_limits<double>::infinity();
  for (double term : terms) {
    if (std::isinf(term)) return total;
    magnitude += std::abs(term);
    if (term != 0) unit = std::min(unit, std::ldexp(1, parts_of(term).exponent));
  }
  if (magnitude >= largest(dtype) / 2)
    return coin() ? total : bits_from_double(between(-1, 1) / 0.0, dtype);
  const double value = double_from_bits(total, dtype);
  if (value == 0) total = coin() ? sign_bit(dtype) : 0;
  if (magnitude <= std::ldexp(unit, precision(dtype))) return total;
  const double room = magnitude * std::ldexp(static_cast<double>(terms.size()), -precision(dtype));
  return bits_from_double(value + between(-room, room), dtype);
}

Bits Perturbed::product(Bits total, DType dtype, const std::vector<double>& terms) {
  double digits = 1, up = 1, down = 1;
  for (double term : terms) {
    if (std::isinf(term)) up = term * term;
    if (term == 0 || std::isinf(term)) continue;
    digits *= parts_of(term).odd;
    (std::abs(term) > 1 ? up : down) *= std::abs(term);
  }
  // Some order may overflow, or lose digits to 0.
  if (up >= largest(dtype) / 2 || down < 4 / largest(dtype)) {
    const double any[] = {0, between(-1, 1) / 0.0, between(-1, 1)};
    return coin() ? total : bits_from_double(any[random_() % 3], dtype);
  }
  if (digits < std::ldexp(1, precision(dtype))) return total;
  const double room = std::ldexp(static_cast<double>(terms.size()), -precision(dtype));
  return bits_from_double(double_from_bits(total, dtype) * (1 + between(-room, room)), dtype);
}

}  // namespace weft
