#include <weft/dev/compile/rule_sets.h>

#include <algorithm>

#include <weft/dev/codegen/decompose.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/shards.h>

namespace weft {

std::span<const RuleSet* const> all_rule_sets() {
  static const RuleSet* const sets[] = {
      &fold_rules(),      &order_rules(),        &sum_rules(),       &divmod_rules(),
      &compare_rules(),   &select_rules(),       &gate_rules(),      &symbolic(),
      &spread_rules(),    &merge_rules(),        &factor_rules(),    &reduction_rules(),
      &fast_math_rules(), &fma_contract_rules(), &width_rules(),     &transcendental_rules(),
      &narrow_rules(),    &narrow_cast_rules(),  &magnitude_rules(), &threefry_rules(),
      &divide_rules(),    &decompositions(),     &half_rules(),      &truncating_rules(),
      &shard_rules(),
  };
  return sets;
}

const RuleSet* find_rule_set(std::string_view name) {
  const auto sets = all_rule_sets();
  const auto found = std::ranges::find(sets, name, [](const RuleSet* set) { return set->name(); });
  return found == sets.end() ? nullptr : *found;
}

}  // namespace weft
