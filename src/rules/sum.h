// A sum seen as terms: the normal form that division and comparison reason about.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

struct Term {
  const Node* node;
  std::int64_t factor;
};

// Looks at sums of at most this many terms, so that a rule's work is bounded.
inline constexpr int longest_sum = 64;

struct Sum {
  std::vector<Term> terms;  // in the order of the expression
  std::int64_t constant = 0;

  // Nothing where the sum is too long, may wrap, or a factor does not fit in 64 bits.
  static std::optional<Sum> of(const Node* node);
  UOp build(DType dtype) const;
  // The terms whose factor the divisor divides, each divided by it; the constant is left out.
  Sum divided(std::int64_t divisor) const;
};

std::int64_t floor_div(std::int64_t a, std::int64_t b);
std::int64_t floor_mod(std::int64_t a, std::int64_t b);

// x*c as (x, c); anything else as (itself, 1).
Term term_of(const Node* node);

// The order of operands: outer ranges before inner ones, then by structure; the same in every run.
bool comes_before(const Node* a, const Node* b);

}  // namespace weft
