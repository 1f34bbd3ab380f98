#include <weft/dev/codegen/decompose.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {

const RuleSet& decompositions() {
  static const RuleSet rules{"decompositions",
                             {&transcendental_rules(), &narrow_rules(), &narrow_cast_rules(),
                              &magnitude_rules(), &threefry_rules(), &divide_rules()}};
  return rules;
}

std::vector<UOp> decompose(const std::vector<UOp>& roots, const RewriteOptions& options) {
  static const RuleSet rules{"decompose", {&decompositions(), &fold_rules()}};
  return rewrite(roots, rules, options);
}

}  // namespace weft
