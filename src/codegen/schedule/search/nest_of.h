// A kernel as the cost model sees it.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>

namespace weft {

// The loops that a STORE or a sum stands in, as far as no other nest stands between them.
struct KernelNest {
  const Node* closer = nullptr;
  Nest nest;
  bool is_whole = false;    // all loops of the kernel are in it
  bool is_ordered = false;  // other nests stand in some of its loops
};

// Those whose form the model knows: sizes that are not known before they run, sums of sums and sums of
// several lengths are not among them. What a nest computes once for all of its iterations is not in it.
std::vector<KernelNest> nests_of(const Node* kernel, const std::vector<NamedLoop>& names,
                                 bool fuses);

// The kernel as one nest; nothing where it is none.
std::optional<Nest> nest_of(const Node* kernel, bool fuses);

// The machine as the kernel finds it.
Machine machine_for(const Node* kernel, const Machine& machine);

// Simple instructions for each element of a value, without the sums and the reads that it is made of.
double ops_of(const std::vector<const Node*>& values);
inline double ops_of(const Node* value) { return ops_of(std::vector{value}); }

}  // namespace weft
