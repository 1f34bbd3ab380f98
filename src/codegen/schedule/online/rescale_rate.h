// How values scale with a maximum that they are computed from.
#pragma once

#include <optional>

#include <weft/dev/ir/uop.h>

namespace weft {

// A value that grows by the factor EXP2(rate * d) if what it reads from some memory grows by d.
struct RescaleRate {
  double rate = 0;
  UOp read, from;  // the LOAD of that memory and what it is subtracted from, in the value's loops
  bool is_guarded = false;  // another value replaces the LOAD where it is minus infinity
};

// Returns the value of a float constant; nothing for other values.
std::optional<double> float_constant(const Node* value);

// Returns the rate of a value of the form EXP2(c * (x - m)) * y, where m is read from `memory`: -c.
// Reads of other memory are traced to the values that were stored there. Returns nothing for other
// forms.
std::optional<RescaleRate> rescale_rate_of(const Node* value, const Node* memory);

}  // namespace weft
