// How many fragments of an instruction stand in registers at once.
#pragma once

#include <cstdint>

#include <weft/dev/device/machine.h>
#include <weft/dev/device/mma.h>

namespace weft {

// Rows and columns of sums, each a multiple of the instruction's.
struct MmaBlock {
  std::int64_t rows, columns;
};

// What multiplies so many rows and columns in the least time, in blocks that may stick out of them.
MmaBlock block_for(const MmaShape& shape, std::int64_t rows, std::int64_t columns);

// Of a product of the block, in cycles.
double cycles_of(const MmaShape& shape, const MmaBlock& block, const Machine& machine);

}  // namespace weft
