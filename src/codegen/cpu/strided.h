// Loads with a short stride between lanes, as in strided convolutions and interleaved channels.
#pragma once

#include <cstdint>

#include <weft/dev/ir/uop.h>

namespace weft {

// A load of `lanes` lanes that are `stride` elements apart, the first of them at index `first`.
struct StridedRead {
  UOp memory, valid, first;
  std::int64_t stride;
  std::uint32_t lanes;
  UOp otherwise;  // value of lanes that are not valid; null: 0
};

// Loads everything from the first lane to the last as `stride` contiguous vectors, and shuffles the
// lanes out.
UOp load_strided(const StridedRead& read);

}  // namespace weft
