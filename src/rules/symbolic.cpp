#include <weft/dev/rules/symbolic.h>

namespace weft {

const RuleSet& symbolic() {
  static const RuleSet rules{"symbolic",
                             {&fold_rules(), &order_rules(), &sum_rules(), &divmod_rules(),
                              &compare_rules(), &select_rules(), &gate_rules()}};
  return rules;
}

std::vector<UOp> simplify(const std::vector<UOp>& roots) {
  return rewrite(rewrite(roots, symbolic()), factor_rules());
}

UOp simplify(const UOp& root) { return simplify(std::vector<UOp>{root})[0]; }

}  // namespace weft
