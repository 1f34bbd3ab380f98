// A program as weft runs it, under the settings that hold, beside what the oracle expects.
#pragma once

#include <optional>
#include <string>

#include "program.h"

namespace nets {

struct Fault {
  bool is_error = false;  // weft refused; else it gave other values
  std::string what;
};

// Where weft differs first.
std::optional<Fault> fault_of(const Program& program);

// Where the two differ, as text: in dtype, shape or an element. Empty: nowhere.
std::string difference(const Array& found, const Array& wanted);

}  // namespace nets
