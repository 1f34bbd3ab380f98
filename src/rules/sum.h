// A sum seen as terms: the normal form that division and comparison reason about.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/base/inline_vector.h>
#include <weft/dev/ir/uop.h>

namespace weft {

struct Term {
  const Node* node;
  std::int64_t factor;
};

using TermList = InlineVector<Term, 8>;

// Looks at sums of at most this many terms, so that a rule's work is bounded.
inline constexpr int longest_sum = 64;

struct Sum {
  TermList terms;  // in the order of the expression
  std::int64_t constant = 0;

  // Nothing where the sum is too long, may wrap, or a factor does not fit in 64 bits.
  static std::optional<Sum> of(const Node* node);
  bool is_zero() const { return terms.empty() && constant == 0; }
  UOp build(DType dtype) const;
  // Null where that could wrap: what is divided or compared must not.
  UOp build_exact(DType dtype) const;
  // With terms that are sums themselves, (a + b)*c, as their parts a*c + b*c; nothing where there
  // are none, or a factor does not fit.
  std::optional<Sum> spread() const;
  // Modulo `modulus`, a term t % d is t where the modulus divides d. Whether any was.
  bool drop_remainders(std::int64_t modulus);
  // The terms whose factor the divisor divides, each divided by it; the constant is left out.
  Sum divided(std::int64_t divisor) const;
};

// x * factor; and sum + x * factor, null where x is.
UOp scaled(const UOp& x, std::int64_t factor);
UOp plus(const Sum& sum, const UOp& x, std::int64_t factor = 1);

// (a - b) modulo `modulus`, where factors and inner remainders show that it is one constant.
// (Sums that may wrap are opaque.)
std::optional<std::int64_t> constant_difference(const Node* a, const Node* b, std::int64_t modulus);

// The constant; null where it is no value of the dtype.
UOp exact_const(std::int64_t value, DType dtype);

// The greatest that divides both; positive unless both are 0. (2^62 in place of 2^63.)
std::int64_t common_factor(std::int64_t a, std::int64_t b);

// a / b where b divides a and the quotient fits.
std::optional<std::int64_t> exact_quotient(std::int64_t a, std::int64_t b);

// x*c as (x, c); anything else as (itself, 1).
Term term_of(const Node* node);

// The order of operands: outer ranges before inner ones, then by structure; the same in every run.
bool comes_before(const Node* a, const Node* b);

}  // namespace weft
