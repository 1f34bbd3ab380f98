// Inputs that functions are measured at: the same in every run with the same seed.
#pragma once

#include <cstdint>
#include <vector>

#include "functions.h"

namespace weft::accuracy {

// Numbers of the dtype; y is empty for functions of one operand.
struct Inputs {
  std::vector<double> x, y;
};

// Of f32 and f64: special numbers and those next to them, then `count` others. Of f16 and bf16, and one operand: all
// patterns, or those of which `part` of `parts` is the turn.
Inputs inputs_for(const Function& function, DType dtype, std::size_t count, std::uint64_t seed,
                  std::uint64_t parts = 1);

}  // namespace weft::accuracy
