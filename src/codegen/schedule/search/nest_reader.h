// Reads one nest of a kernel into the form of the cost model: loops, accesses and instructions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/dev/cost/nest.h>
#include <weft/dev/ir/node.h>

namespace weft {

// Names of the kernel's loops and reads, and whether the device has a fused multiply-add.
struct NestNames {
  std::map<const Node*, std::string> loops, reads;
  bool fuses;
};

// The parts of a nest: the `loops` of its closer, the `sums` inside all of these, and the loops
// `around` the nest.
struct NestParts {
  const Node* closer;
  std::vector<const Node*> around, loops, sums;
};

// Returns nothing if the model does not know the nest's form.
std::optional<Nest> read_nest(const NestNames& names, const NestParts& parts);

// Returns how many simple instructions an op takes.
double weight_of(Op op);

// Returns the nodes at and below `root`, without the loops that fill the memory it reads. `enter`
// tells for a REDUCE whether to include its operands.
std::vector<const Node*> computed_in(const Node* root,
                                     const std::function<bool(const Node*)>& enter);

}  // namespace weft
