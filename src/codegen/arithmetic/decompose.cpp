#include <weft/dev/codegen/decompose.h>

#include <algorithm>

#include <weft/dev/device/target.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {

const RuleSet& decompositions() {
  static const RuleSet rules{"decompositions",
                             {&transcendental_rules(), &narrow_rules(), &narrow_cast_rules(),
                              &magnitude_rules(), &threefry_rules(), &divide_rules()}};
  return rules;
}

namespace {

// Returns whether a matrix instruction in the kernels multiplies numbers of these kinds.
bool multiplies(const std::vector<UOp>& roots, KindSet kinds) {
  return std::ranges::any_of(toposort(nodes_of(roots)), [&](const Node* node) {
    return node->op() == Op::Mma && kinds.contains(node->src(0)->dtype().kind());
  });
}

}  // namespace

// The target's rounding instructions take denormals as zero. They are used only beside matrix
// instructions, which do so as well.
std::vector<UOp> decompose(const std::vector<UOp>& roots, const RewriteOptions& options) {
  static const RuleSet rules{"decompose", {&decompositions(), &fold_rules()}};
  const auto* target = options.context.get<Target>();
  if (target == nullptr || target->rounds == KindSet{} || multiplies(roots, target->rounds))
    return rewrite(roots, rules, options);
  Target exact = *target;
  exact.rounds = {};
  RewriteOptions exactly = options;
  exactly.context = &exact;
  return rewrite(roots, rules, exactly);
}

}  // namespace weft
