// Faults of weft that are known, so that they do not hide others. The generator draws no step that
// meets one; the list is to be empty.
#pragma once

#include "program.h"

namespace nets {

// What the step would meet at the end of the program, or null. `values`: those of the steps so far.
const char* known_fault(const Program& program, const std::vector<Array>& values, const Step& step);
// Of any of its steps.
bool has_known_fault(const Program& program);

}  // namespace nets
