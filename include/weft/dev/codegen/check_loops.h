// That a kernel comes to an end, and after how many iterations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

struct LoopCheck {
  // Why it is not shown to end, one line per reason. Empty: every loop is a RANGE with a number of
  // iterations that is fixed when the kernel starts, and at most what constants and the bounds of VARIABLEs
  // say. Nothing else repeats: sources exist before what is made of them, so that no graph has a cycle
  // and no body can call itself.
  std::vector<std::string> findings;
  // Of all loops together, in all the iterations of those around them, by all workers of the launch grid;
  // 2^63 - 1 stands for that and more. 0 where something was found.
  std::int64_t most_iterations = 0;
};

// Of a kernel or a program, before or after any pass; bodies that are called count at every CALL.
LoopCheck check_loops(const Node* kernel);

}  // namespace weft
