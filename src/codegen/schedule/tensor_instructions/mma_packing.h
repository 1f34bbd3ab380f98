// How the factors of a product of matrices lie: where they are, packed, or packed once for all.
#pragma once

#include <vector>

#include "mma_kernel.h"

namespace weft {

// Actions, and the cycles that they take.
struct MmaDraft {
  Schedule actions;
  double cycles = 0;
};

// How many blocks of columns may go together, the most first: as many as fit beside one of rows into a part of the scratch
// memory, so that what is packed of them is read by all rows, and each block of these by all of them, while it is near. None
// where not even one fits.
std::vector<std::int64_t> counts_together(const MmaKernel& kernel, const MmaWay& way);

void pack_columns(const MmaKernel& kernel, const MmaWay& way, MmaDraft& draft);

// Where they have to be; whether there is room. Regions may be no choice.
bool pack_rows(const MmaKernel& kernel, const MmaWay& way, bool has_regions, MmaDraft& draft);

}  // namespace weft
