// Collapses two nested loops into one if each access advances uniformly across both. Copies of
// several dimensions, contiguous in memory, then become loops that are as long as possible. Runs
// when schedules have been applied and indices are flat.
#pragma once

#include <weft/dev/rewrite/rule.h>

namespace weft {

const RuleSet& join_rules();

}  // namespace weft
