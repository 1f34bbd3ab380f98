// Contracts a*b + c to MULACC, which rounds once, if FASTMATH=1 and the target has it.

#include <weft/dev/codegen/lower.h>
#include <weft/dev/device/target.h>
#include <weft/settings.h>

namespace weft {

const RuleSet& fma_contract_rules() {
  static const Pat a = of_kinds("a", {Kind::F32, Kind::F64}), b = any("b"), c = any("c");
  static const RuleSet rules{"fma_contract", {rule(a * b + c, node(Op::MulAcc, {a, b, c}))}};
  return rules;
}

std::vector<UOp> fma_contract(const std::vector<UOp>& roots, const RewriteOptions& options) {
  const auto* target = options.context.get<Target>();
  const bool is_wanted = setting_int("FASTMATH") != 0 && setting_int("ALGEBRA") != 0;
  if (!is_wanted || target == nullptr || !target->ops.contains(Op::MulAcc)) return roots;
  return rewrite(roots, fma_contract_rules(), options);
}

}  // namespace weft
