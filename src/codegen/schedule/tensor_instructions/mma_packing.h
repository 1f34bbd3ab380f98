// Chooses factor layouts for a matrix product: in place, packed by the kernel, or prepacked.
#pragma once

#include <vector>

#include "mma_kernel.h"

namespace weft {

// A schedule, and the cycles that the kernel takes with it.
struct MmaDraft {
  Schedule actions;
  double cycles = 0;
};

// Returns how many column blocks a group may have, the most first. Packed groups must fit into a
// part of the scratch memory. All rows then read a group, and all blocks of a group read each block
// of rows, while it is in the cache. The list is empty if not even one block fits.
std::vector<std::int64_t> counts_together(const MmaKernel& kernel, const MmaTiling& tiling);

void pack_columns(const MmaKernel& kernel, const MmaTiling& tiling, MmaDraft& draft);

// Packs the rows if necessary, and returns whether there is room. Without `has_regions`, rows are
// never staged as a region.
bool pack_rows(const MmaKernel& kernel, const MmaTiling& tiling, bool has_regions, MmaDraft& draft);

}  // namespace weft
