// Orders loops of symbolic size.
#pragma once

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>

namespace weft {

// Moves output loops of symbolic size outermost in a kernel that is one nest, so that the others,
// such as the channels of a convolution over time, can be vectorised and tiled. Returns nothing if
// they are outermost already, or if the loops along which reductions reuse their reads have too few
// iterations for a vector.
Schedule symbolic_loops_outermost(const Node* kernel, const Target& target);

}  // namespace weft
