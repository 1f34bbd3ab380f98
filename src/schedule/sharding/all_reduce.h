// Algorithms for ALLREDUCE, built from COPYs and elementwise ops.
#pragma once

#include <weft/dev/ir/multi.h>
#include <weft/dev/schedule/shards.h>

namespace weft {

// Returns the combination of all parts, once for each device. All devices get the same bits.
std::vector<UOp> all_reduced(Op op, const std::vector<UOp>& parts,
                             const std::vector<Symbol>& devices, AllReduceBy by);

}  // namespace weft
