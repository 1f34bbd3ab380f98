#include <weft/dev/rules/symbolic.h>

#include <algorithm>

#include <weft/dev/ir/graph.h>

namespace weft {

const RuleSet& symbolic() {
  static const RuleSet rules{"symbolic",
                             {&fold_rules(), &order_rules(), &sum_rules(), &divmod_rules(),
                              &compare_rules(), &select_rules(), &gate_rules()}};
  return rules;
}

std::span<const RuleSet* const> all_rule_sets() {
  static const RuleSet* const sets[] = {&fold_rules(),   &order_rules(),   &sum_rules(),
                                        &divmod_rules(), &compare_rules(), &select_rules(),
                                        &gate_rules(),   &symbolic(),      &spread_rules(),
                                        &merge_rules(),  &factor_rules(),  &width_rules()};
  return sets;
}

const RuleSet* find_rule_set(std::string_view name) {
  const auto sets = all_rule_sets();
  const auto found = std::ranges::find(sets, name, [](const RuleSet* set) { return set->name(); });
  return found == sets.end() ? nullptr : *found;
}

namespace {

const RuleSet& spread_symbolic() {
  static const RuleSet rules{"spread_symbolic", {&symbolic(), &spread_rules(), &merge_rules()}};
  return rules;
}

// In the one order as well: what is simplified again then stays as it is.
const RuleSet& contracting() {
  static const RuleSet rules{"factor", {&factor_rules(), &order_rules()}};
  return rules;
}

bool same(const std::vector<UOp>& a, const std::vector<UOp>& b) {
  return std::ranges::equal(a, b, [](const UOp& x, const UOp& y) { return x.is(y); });
}

std::size_t op_count_of(const std::vector<UOp>& roots) {
  return static_cast<std::size_t>(std::ranges::count_if(
      toposort(nodes_of(roots)), [](const Node* node) { return is_elementwise(node->op()); }));
}

}  // namespace

std::vector<UOp> simplify(const std::vector<UOp>& roots, const RewriteOptions& options) {
  const auto run = [&](const std::vector<UOp>& in, const RuleSet& rules) {
    return rewrite(in, rules, options);
  };
  const std::vector<UOp> whole = run(roots, symbolic());
  std::vector<UOp> result = run(whole, contracting());
  static const RuleSet only{"spread", {&spread_rules(), &merge_rules()}};
  const std::vector<UOp> spread = run(whole, only);
  if (same(spread, whole)) return result;
  // Spreading a scaled sum lets a remainder meet its quotient, but may part it from equal sums
  // elsewhere: which is smaller is seen at the end.
  std::vector<UOp> other = run(run(spread, spread_symbolic()), contracting());
  return op_count_of(other) < op_count_of(result) ? other : result;
}

UOp simplify(const UOp& root) { return simplify(std::vector<UOp>{root})[0]; }

}  // namespace weft
