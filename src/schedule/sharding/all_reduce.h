// The ways in which devices come to the sum of what each of them has.
#pragma once

#include <weft/dev/ir/multi.h>
#include <weft/dev/schedule/shards.h>

namespace weft {

// By device, the parts of all devices combined. All get the same bits.
std::vector<UOp> all_reduced(Op op, const std::vector<UOp>& parts,
                             const std::vector<Symbol>& devices, AllReduceBy by);

}  // namespace weft
