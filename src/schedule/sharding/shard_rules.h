// The rules for tensors in parts, by what they are about.
#pragma once

#include <weft/dev/rewrite/rule.h>

namespace weft {

const RuleSet& call_rules();  // a call is its body on the arguments
const RuleSet& shard_movement_rules();
const RuleSet& shard_memory_rules();
const RuleSet& copy_rules();  // for graphs in which no MULTI is left but below a COPY

}  // namespace weft
