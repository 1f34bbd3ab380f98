// What FASTMATH=1 allows: rewrites of floats that are right for numbers, but not for NaN, infinity
// and -0, or that round another time.

#include <cmath>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/value.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

double number(const Node* constant) {
  return double_from_bits(constant->arg<ConstArg>().bits, constant->dtype().scalar());
}

// How far the next number is from 1.
double step_at_one(DType dtype) {
  return double_from_bits(bits_from_double(1, dtype) + 1, dtype) - 1;
}

// Null where the dtype has no number close to the factor: not what overflows, nor what is so small
// that bits are lost.
UOp times(const Node* x, double factor) {
  const DType dtype = x->dtype().scalar();
  const Bits bits = bits_from_double(factor, dtype);
  const double error = std::abs(double_from_bits(bits, dtype) - factor);
  const bool is_close = factor != 0 && error <= step_at_one(dtype) * std::abs(factor);
  return is_close ? UOp(x) * const_bits(x->dtype(), bits) : UOp();
}

// (x * c) * d: no product where c is 1/d as closely as the dtype says, as log2(e) is 1/ln(2).
UOp join_factors(const Match& m) {
  const Node* product = m.root()->src(0);
  const Node* x = product->src(0);
  const double factor = number(product->src(1)) * number(m.root()->src(1));
  return std::abs(factor - 1) <= step_at_one(x->dtype().scalar()) ? UOp(x) : times(x, factor);
}

UOp times_reciprocal(const Match& m) {
  return times(m.root()->src(0), 1 / number(m.root()->src(1)));
}

}  // namespace

const RuleSet& fast_math_rules() {
  static const Pat x = floats("x"), c = any_const("c"), d = any_const("d");
  // clang-format off
  static const RuleSet rules{"fast_math", {
    rule(x + 0,                                    x),
    rule(x * 0,                                    0),
    rule(node(Op::Log2, {node(Op::Exp2, {x})}),    x),
    rule(node(Op::Exp2, {node(Op::Log2, {x})}),    x),
    rule(ordered(ordered(x * c) * d),              join_factors),
    rule(node(Op::Div, {x, c}),                    times_reciprocal),
  }};
  // clang-format on
  return rules;
}

}  // namespace weft
