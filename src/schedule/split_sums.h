#pragma once

#include <weft/dev/rewrite/rule.h>

namespace weft {

const RuleSet& split_sums_rules();

}  // namespace weft
