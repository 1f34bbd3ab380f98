// Shapes that a file says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <weft/dtype.h>

namespace weft {

// The bytes of so many elements; nothing where no memory can be so large.
std::optional<std::size_t> checked_bytes(DType dtype, const std::vector<std::int64_t>& shape);

}  // namespace weft
