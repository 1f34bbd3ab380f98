// Lanes a few elements apart, as convolutions in steps and interleaved channels have them.
#pragma once

#include <cstdint>

#include <weft/dev/ir/uop.h>

namespace weft {

// A read of so many lanes from `first` on.
struct StridedRead {
  UOp memory, valid, first;
  std::int64_t stride;
  std::uint32_t lanes;
  UOp otherwise;  // where it is not valid; null: 0
};

// All that lies from the first lane to the last, and of that the lanes.
UOp read_between(const StridedRead& read);

}  // namespace weft
