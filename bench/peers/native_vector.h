// A vector register of the machine that this is compiled for.
#pragma once

#include <cstddef>

namespace weft::bench {

#if defined(__AVX512F__)
constexpr std::size_t vector_bytes = 64, vector_registers = 32;
#elif defined(__AVX__)
constexpr std::size_t vector_bytes = 32, vector_registers = 16;
#elif defined(__aarch64__)
constexpr std::size_t vector_bytes = 16, vector_registers = 32;
#else
constexpr std::size_t vector_bytes = 16, vector_registers = 16;
#endif
constexpr std::size_t lanes = vector_bytes / sizeof(float);
using Vector [[gnu::vector_size(vector_bytes)]] = float;

}  // namespace weft::bench
