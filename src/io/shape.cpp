#include <weft/dev/io/shape.h>

#include <algorithm>

namespace weft {

std::optional<std::size_t> checked_bytes(DType dtype, const std::vector<std::int64_t>& shape) {
  constexpr std::size_t most_axes = 64;
  if (shape.size() > most_axes) return {};
  auto bytes = static_cast<std::int64_t>(dtype.bytes());
  for (const std::int64_t size : shape)
    if (size < 0 || (size > 0 && __builtin_mul_overflow(bytes, size, &bytes))) return {};
  return std::ranges::count(shape, 0) > 0 ? 0 : static_cast<std::size_t>(bytes);
}

}  // namespace weft
