// The settings that name passes.
#pragma once

#include <string_view>

#include <weft/dev/compile/extra_rules.h>

namespace weft {

// Throws where one of them cannot be followed: SKIP of a pass that is required or that there is not, DUMP of no pass
// and no rules of the program, and VIZ=1 in the environment. Costs next to nothing while none is set.
void check_pass_settings(const ExtraRuleList& extra);

bool is_skipped(std::string_view pass);
bool is_dumped(std::string_view pass_or_rules);

}  // namespace weft
