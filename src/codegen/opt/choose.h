// The schedule that the cost model expects to be fastest.
#pragma once

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>

namespace weft {

Schedule choose_schedule(const Node* kernel, const Target& target);

}  // namespace weft
