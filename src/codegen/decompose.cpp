#include <weft/dev/codegen/decompose.h>

namespace weft {

const RuleSet& decompositions() {
  static const RuleSet rules{"decompositions", {&threefry_rules(), &divide_rules()}};
  return rules;
}

}  // namespace weft
