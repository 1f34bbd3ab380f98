// Every rule set by its name, for tools and tests.
#pragma once

#include <span>
#include <string_view>

#include <weft/dev/rewrite/rule.h>

namespace weft {

std::span<const RuleSet* const> all_rule_sets();
const RuleSet* find_rule_set(std::string_view name);  // null where there is none

}  // namespace weft
