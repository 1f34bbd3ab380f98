#include "sum.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weft {

Term term_of(const Node* node) {
  if (node->op() == Op::Mul && node->src(1)->is_const()) return {node->src(0), node->src(1)->lo()};
  return {node, 1};
}

std::int64_t common_factor(std::int64_t a, std::int64_t b) {
  const auto magnitude = [](std::int64_t x) { return x < 0 ? 0 - Bits(x) : Bits(x); };
  const Bits factor = std::gcd(magnitude(a), magnitude(b));
  return static_cast<std::int64_t>(factor == Bits{1} << 63 ? factor / 2 : factor);
}

std::optional<std::int64_t> exact_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
  return a % b == 0 ? std::optional(a / b) : std::nullopt;
}

UOp exact_const(std::int64_t value, DType dtype) {
  const Bits bits = bits_from_int(value, dtype.scalar());
  return static_cast<std::int64_t>(bits) == value ? const_bits(dtype, bits) : UOp();
}

namespace {

bool add_term(Sum& sum, const Node* node) {
  if (node->op() == Op::Mul && !node->is_exact()) return false;
  if (node->is_const()) return !__builtin_add_overflow(sum.constant, node->lo(), &sum.constant);
  if (const Term term = term_of(node); term.factor != 0) sum.terms.push_back(term);
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

UOp Sum::build_exact(DType dtype) const {
  const auto fits = [&](std::int64_t value) { return !exact_const(value, dtype).is_null(); };
  if (!fits(constant) || !std::ranges::all_of(terms, fits, &Term::factor)) return {};
  const UOp result = build(dtype);
  return Sum::of(result.node()) ? result : UOp();
}

bool Sum::drop_remainders(std::int64_t modulus) {
  bool changed = false;
  for (Term& term : terms) {
    const Node* node = term.node;
    if (term.factor != 1 || node->op() != Op::FloorMod || !node->src(1)->is_const() ||
        !node->src(0)->is_exact() || node->src(1)->lo() == 0 || node->src(1)->lo() % modulus != 0)
      continue;
    term.node = node->src(0);
    changed = true;
  }
  return changed;
}

namespace {

// Adds factor * node modulo `modulus`, which is small enough for products of what it leaves. Looks
// inside `steps` nodes at most: sums and remainders may be nested deeply, and share parts.
void add_modulo(Sum& sum, const Node* node, std::int64_t factor, std::int64_t modulus, int& steps) {
  if (node->op() == Op::FloorMod && node->src(1)->is_const() && node->src(1)->lo() > 0 &&
      floor_mod(node->src(1)->lo(), modulus) * factor % modulus == 0)
    node = node->src(0);
  const auto parts = steps > 0 ? Sum::of(node) : std::nullopt;
  --steps;
  if (!parts || (parts->terms.size() == 1 && parts->terms[0].node == node)) {
    const auto known = std::ranges::find(sum.terms, node, &Term::node);
    if (known == sum.terms.end())
      sum.terms.push_back({node, factor});
    else
      known->factor = (known->factor + factor) % modulus;
    return;
  }
  sum.constant = (sum.constant + floor_mod(parts->constant, modulus) * factor) % modulus;
  for (const Term& part : parts->terms)
    if (const std::int64_t f = floor_mod(part.factor, modulus) * factor % modulus; f != 0)
      add_modulo(sum, part.node, f, modulus, steps);
}

}  // namespace

std::optional<std::int64_t> constant_difference(const Node* a, const Node* b,
                                                std::int64_t modulus) {
  if (modulus >= std::int64_t{1} << 31) return std::nullopt;
  Sum difference;
  int steps = 2 * longest_sum;
  add_modulo(difference, a, 1, modulus, steps);
  add_modulo(difference, b, modulus - 1, modulus, steps);
  for (const Term& term : difference.terms)
    if (term.factor != 0) return std::nullopt;
  return difference.constant;
}

UOp scaled(const UOp& x, std::int64_t factor) { return factor == 1 ? x : x * factor; }

UOp plus(const Sum& sum, const UOp& x, std::int64_t factor) {
  if (x.is_null()) return x;
  return sum.is_zero() ? scaled(x, factor) : sum.build(x->dtype()) + scaled(x, factor);
}

std::optional<Sum> Sum::spread() const {
  Sum result;
  result.constant = constant;
  bool changed = false;
  const auto add = [&](const Term& term) {
    const auto known = std::ranges::find(result.terms, term.node, &Term::node);
    if (known != result.terms.end())
      return !__builtin_add_overflow(known->factor, term.factor, &known->factor);
    result.terms.push_back(term);
    return true;
  };
  for (const Term& term : terms) {
    const auto inner = term.node->op() == Op::Add ? Sum::of(term.node) : std::nullopt;
    if (!inner) {
      if (!add(term)) return std::nullopt;
      continue;
    }
    changed = true;
    std::int64_t scaled = 0;
    if (__builtin_mul_overflow(inner->constant, term.factor, &scaled) ||
        __builtin_add_overflow(result.constant, scaled, &result.constant))
      return std::nullopt;
    for (const Term& part : inner->terms) {
      if (__builtin_mul_overflow(part.factor, term.factor, &scaled)) return std::nullopt;
      if (!add({part.node, scaled})) return std::nullopt;
    }
  }
  return changed ? std::optional(std::move(result)) : std::nullopt;
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
