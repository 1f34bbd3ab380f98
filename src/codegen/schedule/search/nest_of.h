// Splits a kernel into the loop nests that the cost model can time.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>

namespace weft {

// The loops of an END or REDUCE as one nest.
struct KernelNest {
  const Node* closer = nullptr;  // END or REDUCE
  Nest nest;
  bool is_whole = false;    // it is the whole kernel
  bool is_ordered = false;  // some of its loops contain other nests
};

// Returns the nests whose form the model knows. It does not know reductions of symbolic size,
// reductions whose operand contains a reduction that changes with their loops, and nests with
// reductions of different sizes. Loads that are invariant in all of its own loops are left out.
std::vector<KernelNest> nests_of(const Node* kernel, const std::vector<NamedLoop>& names,
                                 bool fuses);

// Returns the nest that is the whole kernel, or nothing if there is no such nest.
std::optional<Nest> nest_of(const Node* kernel, bool fuses);

// Returns the machine, without constants_stay if the kernel's constants are not in its caches.
DeviceModel machine_for(const Node* kernel, const DeviceModel& machine);

// Returns the simple instructions per element of a value, without its reductions and loads.
double ops_of(const std::vector<const Node*>& values);
inline double ops_of(const Node* value) { return ops_of(std::vector{value}); }

}  // namespace weft
