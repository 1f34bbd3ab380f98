// A kernel as the cost model sees it.
#pragma once

#include <optional>

#include <weft/dev/cost/nest.h>

namespace weft {

// Nothing where the kernel is more than one nest of loops with sums in it: stages, several stores in
// loops of their own, sums of sums, sizes that are not known before it runs.
std::optional<Nest> nest_of(const Node* kernel, bool fuses);

}  // namespace weft
