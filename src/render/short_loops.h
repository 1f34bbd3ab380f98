// Loops that are written iteration by iteration: few iterations of little, whose counting would
// take as long as what they do.
#pragma once

#include <set>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

// Those RANGEs of the program. What stands in one is at most some hundred statements, all its
// iterations together.
std::set<const Node*> short_loops(const std::vector<const Node*>& program,
                                  const NodeMap<bool>& needed);

}  // namespace weft
