// What is known of a factor or divisor of float terms without computing it.
#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// Whether no value is below zero: squares, absolute values, powers of two, and what is made of them. As a divisor such a
// value is zero only where all terms of its sums are. Mostly those are the dividends, which are then zero as well.
bool is_never_negative(const Node* value);
// Whether the factor is finite where what it is made of is, and no mask that the graph computes: those hide large values.
bool is_plain_factor(const Node* value);

}  // namespace weft
