// Which algebra the settings ask for.

#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>

namespace weft {

Algebra algebra_in_force() {
  if (setting_int("ALGEBRA") == 0) return Algebra::Off;
  return setting_int("FASTMATH") == 0 ? Algebra::Exact : Algebra::Fast;
}

const RuleSet& algebra(Algebra which) {
  static const RuleSet none{"no_algebra", std::vector<Rule>{}};
  static const RuleSet fast{"fast_algebra", {&symbolic(), &fast_math_rules()}};
  switch (which) {
    case Algebra::Off: return none;
    case Algebra::Exact: return symbolic();
    case Algebra::Fast: return fast;
  }
  return none;
}

}  // namespace weft
