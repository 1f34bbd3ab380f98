#include <array>

#include "native_vector.h"
#include "roof.h"

namespace weft::bench {

double fma_loop(std::size_t iterations) {
  // As many independent chains as there are registers, less the two factors and some spare ones:
  // more than latency times width on every core so far.
  constexpr std::size_t chains = vector_registers - 4;
  constexpr std::size_t unrolled = 4;
  Vector scale = Vector{} + 0.999F, offset = Vector{} + 0.001F;
  asm volatile("" : "+m"(scale), "+m"(offset));  // not to be computed at compile time
  std::array<Vector, chains> sums;  // each from another number, or they would all be one
#pragma GCC unroll 64
  for (std::size_t i = 0; i < chains; ++i) sums[i] = Vector{} + static_cast<float>(i);
  for (std::size_t iteration = 0; iteration < iterations; ++iteration)
    for (std::size_t copy = 0; copy < unrolled; ++copy)
#pragma GCC unroll 64
      for (std::size_t i = 0; i < chains; ++i) sums[i] = sums[i] * scale + offset;
  for (Vector& sum : sums) asm volatile("" : "+m"(sum));
  return 2.0 * static_cast<double>(lanes * chains * unrolled) * static_cast<double>(iterations);
}

}  // namespace weft::bench
