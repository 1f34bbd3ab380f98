// Memory of others, where the elements of an axis may lie anyhow far apart.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/tensor.h>

namespace weft {

// How many elements from the first to the last; nothing where that is no number, or less than 0.
std::optional<std::int64_t> reach(const std::vector<std::int64_t>& shape,
                                  const std::vector<std::int64_t>& strides);

// Of memory that has one axis, with reach() elements or more from `offset` on. Shares it wherever the elements lie in
// whole rows. Throws where axes overlap or go backwards.
Tensor strided(const Tensor& memory, std::int64_t offset, const std::vector<std::int64_t>& shape,
               const std::vector<std::int64_t>& strides);

}  // namespace weft
