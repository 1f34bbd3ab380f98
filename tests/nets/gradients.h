// Gradients beside finite differences of the oracle.
#pragma once

#include <string>

#include "program.h"

namespace nets {

// Where the gradients of the outputs' weighted sum differ; empty: nowhere, or the program is at a kink.
std::string gradient_fault(const Program& program);

// How a gradient for a value of the program depends on what has been read before; empty: not at all.
std::string reading_fault(const Program& program);

}  // namespace nets
