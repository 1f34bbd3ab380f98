// The linear order in which a program executes.
#pragma once

#include <vector>

#include <weft/dev/ir/graph.h>

namespace weft {

// Returns every node below the kernel, sources before users. Loops are brackets: a RANGE opens one,
// and an END, REDUCE or STAGE closes all of its own. Loop-invariant nodes precede the loop.
std::vector<const Node*> linearize(const Node* kernel);

}  // namespace weft
