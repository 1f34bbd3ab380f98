#include <weft/dev/codegen/decompose.h>

namespace weft {

const RuleSet& decompositions() {
  static const RuleSet rules{"decompositions",
                             {&transcendental_rules(), &narrow_rules(), &narrow_cast_rules(),
                              &threefry_rules(), &divide_rules()}};
  return rules;
}

}  // namespace weft
