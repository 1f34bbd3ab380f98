// The limits of one kernel, so that code generation takes acceptable time and a launch can pass it.
#pragma once

#include <cstdint>

namespace weft {

inline constexpr std::int64_t most_ops = 2000;
inline constexpr std::int64_t most_params = 40;
inline constexpr std::int64_t most_sums = 32;  // each has its own register tiles

}  // namespace weft
