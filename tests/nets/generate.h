// Random programs. The same seed gives the same program everywhere.
#pragma once

#include "program.h"

namespace nets {

Program random_program(std::uint64_t seed);

}  // namespace nets
