#include "factor_values.h"

#include <algorithm>
#include <cmath>

#include <weft/dev/ir/value.h>

#include "reshape.h"

namespace weft {
namespace {

constexpr int most_depth = 8;  // of an expression; what is deeper is unknown

// The value below views, copies and casts of floats.
const Node* value_below(const Node* node) {
  while (is_movement(node) || node->op() == Op::Contiguous ||
         (node->op() == Op::Cast && node->src(0)->dtype().is_float()))
    node = node->src(0);
  return node;
}

bool is_const_not_negative(const Node* node) {
  return double_from_bits(node->arg<ConstArg>().bits, node->dtype()) >= 0;
}

bool is_negation_of(const Node* a, const Node* b) { return a->op() == Op::Neg && a->src(0) == b; }

bool is_never_negative(const Node* node, int depth) {
  node = value_below(node);
  if (depth == 0) return false;
  const auto holds = [&](std::size_t i) { return is_never_negative(node->src(i), depth - 1); };
  switch (node->op()) {
    case Op::Const: return is_const_not_negative(node);
    case Op::Exp2:
    case Op::Sqrt: return true;
    case Op::Recip: return holds(0);
    // Not Max: x / max(x) is there to keep products finite.
    case Op::Reduce: return node->arg<ReduceArg>().op == Op::Add && holds(0);
    case Op::Mul: return node->src(0) == node->src(1) || (holds(0) && holds(1));
    case Op::Add:
    case Op::Div: return holds(0) && holds(1);
    case Op::Max:
      return holds(0) || holds(1) || is_negation_of(node->src(0), node->src(1)) ||
             is_negation_of(node->src(1), node->src(0));
    case Op::Where: return holds(1) && holds(2);
    case Op::Cast: return node->src(0)->dtype().is_bool() || node->src(0)->dtype().is_unsigned();
    default: return false;
  }
}

bool is_finite_const(const Node* node) {
  return std::isfinite(double_from_bits(node->arg<ConstArg>().bits, node->dtype()));
}

// Of memory, and what is computed in another nest.
bool is_plain_source(const Node* node, bool is_of_codes) {
  return is_of_codes ||
         (node->op() == Op::Buffer && node->arg<BufferArg>().space == Space::Constant);
}

bool is_plain_factor(const Node* node, bool is_of_codes, int depth) {
  node = value_below(node);
  if (depth == 0 || node->dtype().is_bool()) return false;
  const auto holds = [&](const Node* source) {
    return is_plain_factor(source, is_of_codes, depth - 1);
  };
  switch (node->op()) {
    case Op::Const: return !node->dtype().is_float() || is_finite_const(node);
    case Op::Log2:
    case Op::Pow:
    case Op::Where: return false;
    case Op::Recip: return is_never_negative(node->src(0), depth - 1);
    case Op::Div: return holds(node->src(0)) && is_never_negative(node->src(1), depth - 1);
    default:
      return is_elementwise(node->op()) ? std::ranges::all_of(node->src(), holds)
                                        : is_plain_source(node, is_of_codes);
  }
}

bool are_codes(const Node* node, int depth) {
  node = value_below(node);
  if (depth == 0) return false;
  if (node->op() == Op::Cast) return node->src(0)->dtype().is_int();
  return OpSet{Op::Add, Op::Sub}.contains(node->op()) &&
         std::ranges::any_of(node->src(),
                             [&](const Node* source) { return are_codes(source, depth - 1); });
}

}  // namespace

bool is_never_negative(const Node* value) { return is_never_negative(value, most_depth); }

bool is_plain_factor(const Node* value, bool is_of_codes) {
  return is_plain_factor(value, is_of_codes, most_depth);
}

bool are_codes(const Node* terms) { return are_codes(terms, most_depth); }

}  // namespace weft
