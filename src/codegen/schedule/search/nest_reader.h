// One nest of a kernel as the cost model sees it: loops, what they read and store, and how much they compute.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/dev/cost/nest.h>
#include <weft/dev/ir/node.h>

namespace weft {

// What loops and reads of the kernel are called, and whether the device adds a product in one instruction.
struct NestNames {
  std::map<const Node*, std::string> loops, reads;
  bool fuses;
};

// Some loops of a closer. The sums stand in all of these, and all stands in the loops around.
struct NestParts {
  const Node* closer;
  std::vector<const Node*> around, loops, sums;
};

// Nothing where the model does not know its form.
std::optional<Nest> read_nest(const NestNames& names, const NestParts& parts);

// How many simple instructions an op takes.
double weight_of(Op op);

// What is computed at and below a node, other than in the loops that fill what it reads. `enter` says
// of a REDUCE whether its body belongs to it.
std::vector<const Node*> computed_in(const Node* root,
                                     const std::function<bool(const Node*)>& enter);

}  // namespace weft
