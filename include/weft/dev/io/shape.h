// Shapes that a file says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <weft/dtype.h>

namespace weft {

// The bytes of so many elements; nothing where no tensor has this shape: sizes below 0, more axes than make sense, or
// more elements than there are numbers, even with those sizes left out that are 0.
std::optional<std::size_t> checked_bytes(DType dtype, const std::vector<std::int64_t>& shape);

}  // namespace weft
