// The order in which a program runs.
#pragma once

#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

// Every node below the kernel, sources before users, with loops as brackets: a RANGE opens one, an
// END closes all of its own. What a loop does not change stands before it.
std::vector<const Node*> linearize(const Node* kernel);

}  // namespace weft
