#include "sum.h"

#include <algorithm>

namespace weft {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - b * floor_div(a, b); }

Term term_of(const Node* node) {
  if (node->op() == Op::Mul && node->src(1)->is_const()) return {node->src(0), node->src(1)->lo()};
  return {node, 1};
}

namespace {

bool add_term(Sum& sum, const Node* node) {
  if (node->op() == Op::Mul && !node->is_exact()) return false;
  if (node->is_const()) return !__builtin_add_overflow(sum.constant, node->lo(), &sum.constant);
  sum.terms.push_back(term_of(node));
  return true;
}

}  // namespace

std::optional<Sum> Sum::of(const Node* node) {
  if (node->dtype().kind() == Kind::U64 || !node->dtype().is_int()) return std::nullopt;
  Sum sum;
  while (node->op() == Op::Add) {
    if (!node->is_exact() || node->chain() > longest_sum || !add_term(sum, node->src(1)))
      return std::nullopt;
    node = node->src(0);
  }
  if (!add_term(sum, node)) return std::nullopt;
  std::ranges::reverse(sum.terms);
  return sum;
}

UOp Sum::build(DType dtype) const {
  UOp result;
  for (const Term& term : terms) {
    if (term.factor == 0) continue;
    const UOp value = term.factor == 1 ? UOp(term.node) : UOp(term.node) * term.factor;
    result = result.is_null() ? value : result + value;
  }
  if (result.is_null()) return const_int(constant, dtype);
  return constant == 0 ? result : result + constant;
}

Sum Sum::divided(std::int64_t divisor) const {
  Sum result;
  for (const Term& term : terms)
    if (term.factor % divisor == 0) result.terms.push_back({term.node, term.factor / divisor});
  return result;
}

bool comes_before(const Node* a, const Node* b) {
  if (a == b) return false;
  const NodeList x = a->ranges(), y = b->ranges();
  const auto id = [](const Node* range) { return range->arg<RangeArg>().id.value; };
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    if (id(x[i]) != id(y[i])) return id(x[i]) < id(y[i]);
  if (x.size() != y.size()) return x.size() < y.size();
  if (a->hash() != b->hash()) return a->hash() < b->hash();
  return a->id() < b->id();
}

}  // namespace weft
