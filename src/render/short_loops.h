// Loops that are written trip by trip: few trips of little, whose counting would take as long as what they do.
#pragma once

#include <set>
#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

// Those RANGEs of the program. What stands in one is at most some hundred statements, all its trips together.
std::set<const Node*> short_loops(const std::vector<const Node*>& program,
                                  const NodeMap<bool>& needed);

}  // namespace weft
