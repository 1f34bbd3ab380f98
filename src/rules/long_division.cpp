// Division by a size that is no constant: x = Q*n + R as polynomials, and a proof that 0 <= R < n.

#include "long_division.h"

#include <algorithm>
#include <vector>

#include <weft/dev/rules/polynomial.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {
namespace {

constexpr int most_steps = 16;

struct Divided {
  Polynomial quotient, remainder;
};

// By the term of the highest degree, as numbers are divided digit by digit.
Divided divide(const Polynomial& x, const Polynomial& n) {
  const auto degree = [](const Monomial& term) { return term.atoms.size(); };
  const Monomial lead = *std::ranges::max_element(n.terms(), {}, degree);
  Divided result{{}, x};
  for (int step = 0; step < most_steps && result.remainder.is_known(); ++step) {
    std::optional<Monomial> part;
    for (const Monomial& term : result.remainder.terms())
      if (!part) part = exact_quotient(term, lead);
    if (!part) break;
    result.quotient.add(*part);
    result.remainder.add(n, product(*part, {-1, {}}));
  }
  return result;
}

// The largest value of what counts up to something symbolic; the least is 0.
std::optional<Polynomial> largest(const Node* atom) {
  const bool counts = atom->op() == Op::Range || atom->op() == Op::FloorMod;
  if (!counts) return std::nullopt;
  const Node* size = atom->src(atom->op() == Op::Range ? 0 : 1);
  if (size->is_const() || size->lo() <= 0) return std::nullopt;
  Polynomial result = Polynomial::of(size);
  result.add(Polynomial(-1));
  return result;
}

// p with the least or the largest value of an atom in its place, whichever makes p less.
bool put_end_of_range(Polynomial& p, const Assumptions* assumptions) {
  for (const Monomial& term : p.terms()) {
    for (const Node* atom : term.atoms) {
      const auto most = largest(atom);
      const auto others = most ? cofactor(p, atom) : std::nullopt;
      if (!others) continue;
      const Interval sign = others->bounds(assumptions);
      if (sign.lo < 0 && sign.hi > 0) continue;
      Polynomial less = p;
      less.add(*others, {-1, {atom}});
      if (sign.lo < 0)
        for (const Monomial& each : most->terms()) less.add(*others, each);
      p = std::move(less);
      return true;
    }
  }
  return false;
}

// Whether a quotient is being written as the rules do. Divisions in it are not to ask for others like this: each level would
// ask again for all below it.
thread_local bool is_asking = false;

UOp as_rules_write(const UOp& quotient) {
  struct Asking {
    Asking() { is_asking = true; }
    ~Asking() { is_asking = false; }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
  } const asking;
  return rewrite(quotient, symbolic(), {.pass = "long_division"});
}

// g*(y//c) lies between y//(c/g) - (g - 1) and y//(c/g), where g divides c: that in place of a term with
// such a quotient, if it makes p less. Those that p loses by first, as nothing is given away there.
bool put_end_of_quotient(Polynomial& p) {
  if (is_asking) return false;
  for (const bool is_loss : {true, false}) {
    for (const Monomial& term : p.terms()) {
      if (term.atoms.size() != 1 || (term.factor < 0) != is_loss) continue;
      const Node* quotient = term.atoms[0];
      if (quotient->op() != Op::FloorDiv || !quotient->src(1)->is_const()) continue;
      const std::int64_t c = quotient->src(1)->lo(), g = common_factor(term.factor, c);
      if (c <= 0 || g <= 1) continue;
      const UOp y(quotient->src(0)), by = const_int(c / g, quotient->dtype());
      Polynomial less = p, end = Polynomial::of(as_rules_write(y / by).node());
      if (!is_loss) end.add(Polynomial(1 - g));
      less.add({-term.factor, term.atoms});
      less.add(end, {term.factor / g, {}});
      p = std::move(less);
      return true;
    }
  }
  return false;
}

// Whether p is never negative.
bool is_natural(Polynomial p, const Assumptions* assumptions) {
  for (int step = 0; step < most_steps && p.is_known(); ++step) {
    if (p.bounds(assumptions).lo >= 0) return true;
    if (!put_end_of_range(p, assumptions) && !put_end_of_quotient(p)) return false;
  }
  return false;
}

bool is_remainder(const Polynomial& x, const Polynomial& n, const Assumptions* assumptions) {
  Polynomial room = n;
  room.add(x, {-1, {}});
  room.add(Polynomial(-1));
  return is_natural(x, assumptions) && is_natural(std::move(room), assumptions);
}

}  // namespace

UOp long_division(const Node* root, const Assumptions* assumptions) {
  if (root->dtype().kind() == Kind::U64) return {};  // constants of which are no i64
  const Polynomial x = Polynomial::of(root->src(0)), n = Polynomial::of(root->src(1));
  if (!x.is_known() || !n.is_known() || n.is_zero()) return {};
  const Divided divided = divide(x, n);
  Divided before = divided;
  before.quotient.add(Polynomial(-1));
  before.remainder.add(n);
  std::vector<Divided> candidates{{{}, x}};
  if (!divided.quotient.is_zero()) candidates.push_back(divided);
  candidates.push_back(before);
  for (const Divided& found : candidates) {
    if (!is_remainder(found.remainder, n, assumptions)) continue;
    const bool is_quotient = root->op() == Op::FloorDiv;
    return (is_quotient ? found.quotient : found.remainder).build_exact(root->dtype());
  }
  return {};
}

}  // namespace weft
