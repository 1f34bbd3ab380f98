// Proves that a kernel terminates, and bounds its iterations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

struct LoopCheck {
  // Why termination is not proved, one line per reason. If empty, every loop is a RANGE whose trip
  // count depends only on constants, VARIABLEs and enclosing loops, and is bounded by their bounds.
  // Nothing else repeats: a node is created after its sources, so graphs are acyclic and no body
  // can call itself.
  std::vector<std::string> findings;
  // An upper bound of the iterations of all loops, each counted in all iterations of the enclosing
  // loops and of all workers of the launch grid. Saturates at 2^63 - 1; 0 if there are findings.
  std::int64_t most_iterations = 0;
};

// Checks a kernel or a program, before or after any pass. A body counts at every CALL of it.
LoopCheck check_loops(const Node* kernel);

}  // namespace weft
