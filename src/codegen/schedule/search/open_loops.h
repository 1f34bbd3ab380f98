// Loops over sizes that calls say.
#pragma once

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>

namespace weft {

// Puts those of the output around all others, where these have iterations enough for a vector and sums read the same in all of
// them of what changes with the open ones: the channels of a convolution over time are lanes and tiles then.
// Nothing where that is not so, or where they stand there already. Of a kernel that is one nest.
Schedule open_loops_outermost(const Node* kernel, const Target& target);

}  // namespace weft
