// How many elements sizes make together.
#pragma once

#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <weft/error.h>

namespace weft {

// The product of two sizes; refused in the name of the op where it has more than 63 bits.
inline std::int64_t elements_of(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t count = 0;
  if (__builtin_mul_overflow(a, b, &count))
    user_error(fmt::format("{}: more than 2^63 elements", op));
  return count;
}

}  // namespace weft
