// Two-stage reductions: a reduction of many elements to few becomes two. Threads share the parts of
// the first, and rounding errors grow only with the length of a part.

#pragma once

#include <weft/dev/rewrite/rule.h>

namespace weft {

const RuleSet& split_reduction_rules();

}  // namespace weft
