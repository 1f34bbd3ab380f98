#include "shape.h"

namespace weft {

std::optional<std::size_t> checked_bytes(DType dtype, const std::vector<std::int64_t>& shape) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype.bytes());
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return {};
  return static_cast<std::size_t>(bytes);
}

}  // namespace weft
