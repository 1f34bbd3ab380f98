#include <weft/dev/rules/polynomial.h>

#include <algorithm>
#include <limits>

#include "assume.h"

namespace weft {
namespace {

constexpr Interval unbounded{std::numeric_limits<std::int64_t>::min(),
                             std::numeric_limits<std::int64_t>::max()};

bool same_atoms(const Monomial& a, const Monomial& b) {
  return std::ranges::equal(a.atoms, b.atoms);
}

}  // namespace

bool Monomial::contains(const Node* atom) const {
  return std::ranges::find(atoms, atom) != atoms.end();
}

Monomial product(const Monomial& a, const Monomial& b) {
  Monomial result = a;
  for (const Node* atom : b.atoms) result.atoms.push_back(atom);
  std::ranges::sort(result.atoms, comes_before);
  if (__builtin_mul_overflow(a.factor, b.factor, &result.factor)) result.factor = 0;
  return result;
}

std::optional<Monomial> exact_quotient(const Monomial& a, const Monomial& b) {
  const auto factor = exact_quotient(a.factor, b.factor);
  if (!factor) return std::nullopt;
  Monomial result{*factor, a.atoms};
  for (const Node* atom : b.atoms) {
    const auto at = std::ranges::find(result.atoms, atom);
    if (at == result.atoms.end()) return std::nullopt;
    result.atoms.erase(at);
  }
  return result;
}

void Polynomial::add(const Monomial& term) {
  const auto known =
      std::ranges::find_if(terms_, [&](const Monomial& own) { return same_atoms(own, term); });
  if (known == terms_.end()) {
    if (term.factor != 0) terms_.push_back(term);
    is_known_ = is_known_ && terms_.size() <= longest_polynomial;
    return;
  }
  is_known_ = is_known_ && !__builtin_add_overflow(known->factor, term.factor, &known->factor);
  if (known->factor == 0) terms_.erase(known);
}

void Polynomial::add(const Polynomial& other, const Monomial& times) {
  is_known_ = is_known_ && other.is_known_;
  for (const Monomial& term : other.terms_) {
    const Monomial scaled = product(term, times);
    is_known_ = is_known_ && scaled.factor != 0;  // 0 is what does not fit in 64 bits
    if (!is_known_) return;
    add(scaled);
  }
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  result.is_known_ = a.is_known_ && b.is_known_;
  for (const Monomial& term : a.terms_) result.add(b, term);
  return result;
}

bool operator==(const Polynomial& a, const Polynomial& b) {
  Polynomial difference = a;
  difference.add(b, {-1, {}});
  return difference.is_zero();
}

Polynomial Polynomial::of(const Node* node) {
  Polynomial result;
  const bool is_plain = node->is_exact() && node->dtype().kind() != Kind::U64 &&
                        node->chain() <= static_cast<int>(longest_polynomial);
  if (node->is_const()) {
    result.add({node->lo(), {}});
  } else if (is_plain && node->op() == Op::Add) {
    for (const Node* operand : node->src()) result.add(of(operand));
  } else if (is_plain && node->op() == Op::Mul) {
    return of(node->src(0)) * of(node->src(1));
  } else {
    result.add({1, {node}});
  }
  return result;
}

// Nothing where a product of atoms may wrap: its node says less than they do.
std::optional<Sum> Polynomial::sum() const {
  Sum result;
  for (const Monomial& term : terms_) {
    if (term.atoms.empty()) {
      result.constant = term.factor;
      continue;
    }
    UOp product(term.atoms[0]);
    for (std::size_t i = 1; i < term.atoms.size(); ++i) product = product * UOp(term.atoms[i]);
    if (term.atoms.size() > 1 && !product->is_exact()) return std::nullopt;
    result.terms.push_back({product.node(), term.factor});
  }
  return result;
}

Interval Polynomial::bounds(const Assumptions* assumptions) const {
  const auto known = sum();
  return known ? bounds_of(*known, assumptions) : unbounded;
}

UOp Polynomial::build_exact(DType dtype) const {
  const auto known = is_known_ ? sum() : std::nullopt;
  return known ? known->build_exact(dtype) : UOp();
}

std::optional<Polynomial> cofactor(const Polynomial& polynomial, const Node* atom) {
  Polynomial result;
  for (const Monomial& term : polynomial.terms()) {
    if (!term.contains(atom)) continue;
    const auto rest = exact_quotient(term, {1, {atom}});
    if (!rest || rest->contains(atom)) return std::nullopt;
    result.add(*rest);
  }
  return result;
}

}  // namespace weft
