// An integer expression as a polynomial over its atoms, which are neither sums nor products: what
// division by a symbolic size reasons about.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/base/inline_vector.h>
#include <weft/dev/ir/uop.h>

namespace weft {

struct Assumptions;
struct Sum;

struct Monomial {
  std::int64_t factor = 1;
  InlineVector<const Node*, 4> atoms = {};  // in one order, each as often as its power

  bool contains(const Node* atom) const;
};

// Sums of more than longest_polynomial terms, and factors beyond 64 bits, are not known.
inline constexpr std::size_t longest_polynomial = 16;

class Polynomial {
 public:
  Polynomial() = default;
  explicit Polynomial(std::int64_t constant) { add({constant, {}}); }
  // What may wrap is an atom.
  static Polynomial of(const Node* node);

  bool is_known() const { return is_known_; }
  bool is_zero() const { return is_known_ && terms_.empty(); }
  const std::vector<Monomial>& terms() const { return terms_; }

  void add(const Monomial& term);
  void add(const Polynomial& other, const Monomial& times = {});
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  friend bool operator==(const Polynomial& a, const Polynomial& b);  // where both are known
  // By the atoms' bounds and what is assumed (may be null).
  Interval bounds(const Assumptions* assumptions) const;
  // Null where that could wrap.
  UOp build_exact(DType dtype) const;

 private:
  std::optional<Sum> sum() const;

  std::vector<Monomial> terms_;
  bool is_known_ = true;
};

Monomial product(const Monomial& a, const Monomial& b);
// a / b where b divides a.
std::optional<Monomial> exact_quotient(const Monomial& a, const Monomial& b);

// The terms with the atom, without it; nothing where a term has it several times.
std::optional<Polynomial> cofactor(const Polynomial& polynomial, const Node* atom);

}  // namespace weft
