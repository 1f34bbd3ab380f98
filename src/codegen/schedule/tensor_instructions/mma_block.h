// Chooses the block of sums that a matrix instruction keeps in registers.
#pragma once

#include <cstdint>

#include <weft/dev/device/device_model.h>
#include <weft/dev/device/mma.h>

namespace weft {

// The rows and columns of a block of sums, in multiples of the instruction's.
struct MmaBlock {
  std::int64_t rows, columns;
};

// Returns the block that covers this many rows and columns in the least time. Blocks may extend
// beyond them.
MmaBlock block_for(const MmaShape& shape, std::int64_t rows, std::int64_t columns);

// Returns the cycles of a block for one depth step of the instruction.
double cycles_of(const MmaShape& shape, const MmaBlock& block, const DeviceModel& machine);

}  // namespace weft
