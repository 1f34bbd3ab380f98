// Claims as Z3 sees them: the only file that includes its header.
//
// Integers of every dtype are Z3's integers, which have no bounds, and are reduced into the dtype
// where an operation may wrap: bounds of indices are linear arithmetic, for which bit-vectors
// would be hopeless. What has no translation becomes an unknown value within the node's bounds. A
// proof for all such values is a proof; a counterexample may be one that cannot happen, so the
// verdict is then Unknown.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/text.h>
#include <z3++.h>

#include "claim.h"

namespace weft {
namespace {

bool is_bool(const Node* node) { return node->dtype().is_bool(); }
bool is_scalar_value(const Node* node) {
  return (node->dtype().is_int() || is_bool(node)) && node->dtype().lanes() == 1;
}

z3::expr number(z3::context& z3, Wide value) {
  return z3.int_val(fmt::format("{}", value).c_str());
}

Wide power_of_two(int exponent) { return Wide{1} << exponent; }

// The integer of the dtype that is equal modulo 2^bits.
z3::expr wrap(const z3::expr& value, DType dtype) {
  const z3::expr modulus = number(value.ctx(), power_of_two(dtype.bits()));
  if (dtype.is_unsigned()) return z3::mod(value, modulus);
  const z3::expr half = number(value.ctx(), power_of_two(dtype.bits() - 1));
  return z3::mod(value + half, modulus) - half;
}

// A node with its sources in Z3's terms.
struct Term {
  const Node* node;
  std::vector<z3::expr> src;

  const z3::expr& operator[](std::size_t i) const { return src[i]; }
  Interval bounds(std::size_t i) const { return node->src(i)->bounds(); }
  z3::expr number(Wide value) const { return weft::number(src[0].ctx(), value); }
};

// Of a division, in the three cases of the divisor; those that its bounds exclude are left out.
z3::expr by_divisor(const Term& t, const z3::expr& positive, const z3::expr& negative,
                    const z3::expr& zero) {
  const Interval b = t.bounds(1);
  if (b.lo > 0) return positive;
  if (b.hi < 0) return negative;
  return z3::ite(t[1] > 0, positive, z3::ite(t[1] < 0, negative, zero));
}

// Z3 divides so that the remainder is not negative: by a positive divisor that is the floor.
z3::expr floor_div(const Term& t) { return by_divisor(t, t[0] / t[1], -t[0] / -t[1], t.number(0)); }

z3::expr floor_mod(const Term& t) {
  return by_divisor(t, z3::mod(t[0], t[1]), -z3::mod(-t[0], -t[1]), t[0]);
}

// f(|a|), with its sign turned where a is negative.
template <class F>
z3::expr by_dividend(const Term& t, F f) {
  if (t.bounds(0).lo >= 0) return f(t[0]);
  return z3::ite(t[0] >= 0, f(t[0]), -f(-t[0]));
}

z3::expr trunc_div(const Term& t) {
  return by_divisor(t, by_dividend(t, [&](const z3::expr& a) { return a / t[1]; }),
                    by_dividend(t, [&](const z3::expr& a) { return -(a / -t[1]); }), t.number(0));
}

z3::expr trunc_mod(const Term& t) {
  return by_divisor(t, by_dividend(t, [&](const z3::expr& a) { return z3::mod(a, t[1]); }),
                    by_dividend(t, [&](const z3::expr& a) { return z3::mod(a, -t[1]); }), t[0]);
}

// One case for each amount that shifts at all; `beyond` for the others.
template <class F>
z3::expr by_amount(const Term& t, const z3::expr& beyond, F shifted) {
  const Interval by = t.bounds(1);
  const int bits = t.node->dtype().bits();
  z3::expr result = beyond;
  for (int k = 0; k < bits; ++k)
    if (by.contains(k)) {
      const z3::expr now = shifted(t.number(power_of_two(k)));
      result = by.is_point() ? now : z3::ite(t[1] == k, now, result);
    }
  return result;
}

z3::expr shift_left(const Term& t) {
  return by_amount(t, t.number(0), [&](const z3::expr& power) { return t[0] * power; });
}

z3::expr shift_right(const Term& t) {
  const z3::expr beyond = z3::ite(t[0] < 0, t.number(-1), t.number(0));
  return by_amount(t, beyond, [&](const z3::expr& power) { return t[0] / power; });
}

// The bits of `value` that are set in the mask, which is not negative: a difference of remainders
// for each run of ones. Negative numbers have endless ones above, as two's complement has.
z3::expr masked(const Term& t, const z3::expr& value, Wide mask) {
  const auto low_bits = [&](int count) { return z3::mod(value, t.number(power_of_two(count))); };
  z3::expr result = t.number(0);
  for (int from = 0; power_of_two(from) <= mask;) {
    if ((mask >> from & 1) == 0) {
      ++from;
      continue;
    }
    int to = from;
    while ((mask >> to & 1) != 0) ++to;
    result = result + low_bits(to) - low_bits(from);
    from = to;
  }
  return result;
}

bool is_point(const Node* node) { return node->bounds().is_point(); }

// AND, where one operand is constant; the other two ops follow from it.
z3::expr bitwise(const Term& t) {
  const std::size_t at = is_point(t.node->src(1)) ? 1 : 0;
  const z3::expr& value = t[1 - at];
  const Wide mask = t.bounds(at).lo;
  z3::expr both = mask >= 0 ? masked(t, value, mask) : value - masked(t, value, -mask - 1);
  if (t.node->op() == Op::And) return both;
  return value + t.number(mask) - (t.node->op() == Op::Or ? both : 2 * both);
}

z3::expr converted(const Term& t) {
  const DType from = t.node->src(0)->dtype(), to = t.node->dtype();
  if (from.is_bool()) return to.is_bool() ? t[0] : z3::ite(t[0], t.number(1), t.number(0));
  if (to.is_bool()) return t[0] != 0;
  const Interval values = t.bounds(0), room = dtype_interval(to);
  return room.lo <= values.lo && values.hi <= room.hi ? t[0] : wrap(t[0], to);
}

z3::expr first(const Term& t) { return t[0]; }

using Formula = z3::expr (*)(const Term&);
using Formulas = std::array<Formula, op_count>;

constexpr Formulas by_op(std::initializer_list<std::pair<Op, Formula>> rows) {
  Formulas table{};
  for (const auto& [op, formula] : rows) table[static_cast<std::size_t>(op)] = formula;
  return table;
}

// What the ops make of integers: the mathematical result, yet to be wrapped.
constexpr Formulas of_ints = by_op({
    {Op::Bind, first},
    {Op::After, first},
    {Op::Lane, first},
    {Op::Trunc, first},
    {Op::Cast, converted},
    {Op::Bitcast, converted},
    {Op::Neg, [](const Term& t) { return -t[0]; }},
    {Op::Add, [](const Term& t) { return t[0] + t[1]; }},
    {Op::Sub, [](const Term& t) { return t[0] - t[1]; }},
    {Op::Mul, [](const Term& t) { return t[0] * t[1]; }},
    {Op::MulAcc, [](const Term& t) { return t[0] * t[1] + t[2]; }},
    {Op::Max, [](const Term& t) { return z3::ite(t[0] < t[1], t[1], t[0]); }},
    {Op::CDiv, trunc_div},
    {Op::CMod, trunc_mod},
    {Op::FloorDiv, floor_div},
    {Op::FloorMod, floor_mod},
    {Op::Shl, shift_left},
    {Op::Shr, shift_right},
    {Op::And, bitwise},
    {Op::Or, bitwise},
    {Op::Xor, bitwise},
    {Op::CmpLt, [](const Term& t) { return t[0] < t[1]; }},
    {Op::CmpNe, [](const Term& t) { return t[0] != t[1]; }},
    {Op::CmpEq, [](const Term& t) { return t[0] == t[1]; }},
    {Op::Where, [](const Term& t) { return z3::ite(t[0], t[1], t[2]); }},
});

constexpr Formulas of_bools = by_op({
    {Op::After, first},
    {Op::Lane, first},
    {Op::Trunc, first},
    {Op::Neg, first},
    {Op::Cast, converted},
    {Op::Bitcast, converted},
    {Op::Add, [](const Term& t) { return t[0] || t[1]; }},
    {Op::Or, [](const Term& t) { return t[0] || t[1]; }},
    {Op::Max, [](const Term& t) { return t[0] || t[1]; }},
    {Op::Mul, [](const Term& t) { return t[0] && t[1]; }},
    {Op::And, [](const Term& t) { return t[0] && t[1]; }},
    {Op::MulAcc, [](const Term& t) { return (t[0] && t[1]) || t[2]; }},
    {Op::Sub, [](const Term& t) { return t[0] != t[1]; }},
    {Op::Xor, [](const Term& t) { return t[0] != t[1]; }},
    {Op::CmpNe, [](const Term& t) { return t[0] != t[1]; }},
    {Op::CmpEq, [](const Term& t) { return t[0] == t[1]; }},
    {Op::CmpLt, [](const Term& t) { return !t[0] && t[1]; }},
    {Op::Where, [](const Term& t) { return z3::ite(t[0], t[1], t[2]); }},
});

bool is_loop(const Node* node) {
  return (node->op() == Op::Range || node->op() == Op::Special) && is_scalar_value(node->src(0));
}

// The sources that the node's translation is made of.
NodeList operands(const Node* node) {
  switch (node->op()) {
    case Op::Bind:
    case Op::After: return node->src().first(1);
    case Op::Lane: {
      const Node* vector = node->src(0);
      if (vector->op() == Op::Splat) return vector->src();
      if (vector->op() != Op::Stack) return {};
      return vector->src().subspan(static_cast<std::size_t>(node->arg<PositionArg>().at), 1);
    }
    default: return is_elementwise(node->op()) || is_loop(node) ? node->src() : NodeList{};
  }
}

// Null for what is not a formula of its operands: leaves, and what has no translation.
Formula formula_of(const Node* node) {
  const NodeList src = operands(node);
  if (src.empty() || !std::ranges::all_of(src, is_scalar_value)) return nullptr;
  const auto op = static_cast<std::size_t>(node->op());
  const Formula formula = is_bool(src.back()) ? of_bools[op] : of_ints[op];
  return formula == bitwise && std::ranges::none_of(src, is_point) ? nullptr : formula;
}

// What is to be translated for the roots, operands first: not what lies below unknown values.
std::vector<const Node*> nodes_for(NodeList roots) {
  const std::vector<const Node*> order = toposort(roots);
  std::vector<const Node*> nodes;
  NodeMap<bool> needed;
  for (const Node* root : roots) needed.set(root, true);
  for (std::size_t i = order.size(); i-- > 0;) {
    const Node* node = order[i];
    if (!needed.contains(node)) continue;
    nodes.push_back(node);
    if (!is_loop(node) && formula_of(node) == nullptr) continue;
    for (const Node* operand : operands(node)) needed.set(operand, true);
  }
  std::ranges::reverse(nodes);
  return nodes;
}

// Z3 is recursive: it overflowed a stack of 8 MB on an expression 20,000 operations deep.
constexpr std::size_t most_nodes = 10'000;

class Translation {
 public:
  // Of scalar integers and bools, operands before what is made of them.
  Translation(z3::context& z3, NodeList nodes) : z3_(z3), facts_(z3) {
    for (const Node* node : nodes) put(node, translated(node));
  }

  const z3::expr& operator[](const Node* node) const { return made_[*places_.find(node)]; }
  // What holds of the leaves.
  const z3::expr_vector& facts() const { return facts_; }
  // A node of which only the bounds are in the translation; null where all of it is exact.
  const Node* inexact() const { return inexact_; }

  std::string values_in(const z3::model& model) const {
    std::string text;
    for (const Node* leaf : leaves_) {
      const z3::expr value = model.eval((*this)[leaf], true);
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", leaf_name(leaf),
                          Z3_get_numeral_string(z3_, value));
    }
    return text;
  }

 private:
  static std::string leaf_name(const Node* leaf) {
    if (leaf->op() != Op::Special) return expression_text(leaf);
    const auto& arg = leaf->arg<SpecialArg>();
    return fmt::format("{}{}", enum_names(arg.kind)[static_cast<std::size_t>(arg.kind)], arg.axis);
  }

  void put(const Node* node, const z3::expr& expression) {
    places_.set(node, static_cast<std::uint32_t>(made_.size()));
    made_.push_back(expression);
  }

  z3::expr translated(const Node* node) {
    if (node->is_const())
      return is_bool(node) ? z3_.bool_val(node->lo() != 0) : number(z3_, node->bounds().lo);
    if (is_loop(node) || node->op() == Op::Variable) return leaf(node);
    const Formula formula = formula_of(node);
    if (formula == nullptr) return unknown(node);
    Term term{node, {}};
    for (const Node* source : operands(node)) term.src.push_back((*this)[source]);
    const z3::expr result = formula(term);
    return result.is_int() && !node->is_exact() ? wrap(result, node->dtype()) : result;
  }

  z3::expr leaf(const Node* node) {
    leaves_.push_back(node);
    z3::expr value = fresh(node);
    if (!is_loop(node)) return between(value, node->bounds());
    facts_.push_back(value >= 0);
    facts_.push_back(value < (*this)[node->src(0)]);
    return value;
  }

  z3::expr unknown(const Node* node) {
    if (inexact_ == nullptr) inexact_ = node;
    z3::expr value = fresh(node);
    return is_bool(node) ? value : between(value, node->bounds());
  }

  z3::expr fresh(const Node* node) {
    const std::string name = fmt::format("x{}", made_.size());
    return is_bool(node) ? z3_.bool_const(name.c_str()) : z3_.int_const(name.c_str());
  }

  z3::expr between(const z3::expr& value, Interval bounds) {
    facts_.push_back(value >= number(z3_, bounds.lo));
    facts_.push_back(value <= number(z3_, bounds.hi));
    return value;
  }

  z3::context& z3_;
  NodeMap<std::uint32_t> places_;
  std::vector<z3::expr> made_;
  z3::expr_vector facts_;
  std::vector<const Node*> leaves_;
  const Node* inexact_ = nullptr;
};

z3::expr formula_for(const Claim& claim, const Translation& translation) {
  const z3::expr& a = translation[claim.a];
  switch (claim.form) {
    case Claim::Form::Holds: return a;
    case Claim::Form::Equal: return a == translation[claim.b];
    case Claim::Form::Inside: break;
  }
  return a >= 0 && a < translation[claim.b];
}

// One for all claims of a thread: to make one takes longer than most claims.
z3::context& context() {
  thread_local z3::context z3;
  return z3;
}

Proof solved(const Claim& claim, NodeList nodes, unsigned timeout_ms) {
  z3::context& z3 = context();
  const Translation translation(z3, nodes);
  // Not the default one, which chooses by the kind of problem: it hung on products of variables, and
  // past its time.
  z3::solver solver(z3, z3::solver::simple());
  z3::params params(z3);
  params.set("timeout", timeout_ms);
  params.set("ctrl_c", false);  // a handler for all threads
  solver.set(params);
  solver.add(translation.facts());
  if (claim.given != nullptr) solver.add(translation[claim.given]);
  solver.add(!formula_for(claim, translation));
  const z3::check_result result = solver.check();
  if (result == z3::unsat) return {Verdict::Proved, ""};
  if (result == z3::unknown) {
    const std::string reason = solver.reason_unknown();
    return {Verdict::Unknown, "Z3 gave up: " + (reason == "canceled" ? "timeout" : reason)};
  }
  if (const Node* node = translation.inexact())
    return {Verdict::Unknown, "nothing but its bounds is known of " + expression_text(node)};
  const std::string values = translation.values_in(solver.get_model());
  return {Verdict::Refuted, values.empty() ? "all values" : values};
}

}  // namespace

bool can_prove() { return true; }

Proof decide(const Claim& claim, unsigned timeout_ms) {
  std::vector<const Node*> roots{claim.a};
  for (const Node* node : {claim.b, claim.given})
    if (node != nullptr) roots.push_back(node);
  for (const Node* root : roots)
    if (!is_scalar_value(root)) return {Verdict::Unknown, root->dtype().str() + " is not a scalar"};
  const std::vector<const Node*> nodes = nodes_for(roots);
  if (nodes.size() > most_nodes)
    return {Verdict::Unknown, fmt::format("{} operations are too many", nodes.size())};
  try {
    return solved(claim, nodes, timeout_ms);
  } catch (const z3::exception& error) {
    return {Verdict::Unknown, fmt::format("Z3: {}", error.msg())};
  }
}

}  // namespace weft
