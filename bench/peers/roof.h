// What the machine itself reaches: the loops that its limits are measured by. fma_loop.cpp and
// stream_loop.cpp alone are compiled for the machine they run on.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft::bench {

// Multiplies and adds in registers only; how many operations that were.
double fma_loop(std::size_t iterations);

// One pass over memory, in parts of a cache line, all aligned to one.
enum class Pass { Read, Scale, Add, Fma };
enum class Store { Normal, NonTemporal };
// Read: a sum of a; Scale: out = a * s; Add: out = a + b; Fma: out = a * b + c. Returns what keeps
// the compiler from leaving it out.
float stream_loop(Pass pass, Store store, float* out, const float* a, const float* b,
                  const float* c, std::size_t count);

}  // namespace weft::bench
