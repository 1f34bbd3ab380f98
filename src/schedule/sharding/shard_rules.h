// The rule sets for sharded tensors, one for each kind of op.
#pragma once

#include <weft/dev/rewrite/rule.h>

namespace weft {

const RuleSet& call_rules();  // inlines CALLs
const RuleSet& shard_movement_rules();
const RuleSet& shard_memory_rules();
const RuleSet& copy_rules();  // removes COPYs that transfer nothing

}  // namespace weft
