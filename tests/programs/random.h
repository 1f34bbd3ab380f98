// Random programs, of everything in program_ops().
#pragma once

#include "program.h"

namespace weft {

// A program follows from its seed and the standard library.
Script random_program(std::uint64_t seed);
// Each op of program_ops() once, all of them wanted.
Script program_of_every_op();

}  // namespace weft
