// The executable spec: what a legal graph is, at each level of the pipeline.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

enum class Level {
  Any,      // what holds of every node: operand counts and dtypes, args, memory
  Tensor,   // the tensor graph: no loops, no places in memory
  Kernel,   // one kernel: no movement, every RANGE closed exactly once below a SINK
  Program,  // lowered: no REDUCE, no STAGE, no dtype whose width is open
};

// What is wrong with the graph, one line per finding; empty for a legal graph.
std::vector<std::string> spec_violations(NodeList roots, Level level);

// Throws internal_error with the findings and the offending nodes.
void verify(NodeList roots, Level level, std::string_view pass);

}  // namespace weft
