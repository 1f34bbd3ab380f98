// How values grow with one that they are made of.
#pragma once

#include <optional>

#include <weft/dev/ir/uop.h>

namespace weft {

// A value that is EXP2(rate * d) times as much where what it reads of some memory is greater by d.
struct RescaleRate {
  double rate = 0;
  UOp read, from;  // the LOAD of that memory and what it is taken from, in the value's own loops
  bool is_guarded = false;  // it is taken for something else where it is minus infinity
};

// Of EXP2(c * (x - m)) * y, by m of that memory: the rate is -c. What other memory holds is followed to what fills it. Nothing
// where the value has no such form.
std::optional<RescaleRate> growth_of(const Node* value, const Node* memory);

}  // namespace weft
