#pragma once

#include <weft/dev/rewrite/rule.h>

namespace weft {

const RuleSet& split_reduction_rules();

}  // namespace weft
