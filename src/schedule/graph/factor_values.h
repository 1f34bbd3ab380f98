// What is known of a factor or divisor of float terms without computing it.
#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// Whether no value is below zero: squares, absolute values, powers of two, and what is made of them. As a divisor such a
// value is zero only where all terms of its sums are. Mostly those are the dividends, which are then zero as well.
bool is_never_negative(const Node* value);
// Whether the factor is known to be finite: made of constants, and of one divided by what is never negative. Of factors of
// codes, the scales of quantised weights, memory and sums count as well.
bool is_plain_factor(const Node* value, bool is_of_codes);
// Whether the float terms are integers, perhaps less a zero point.
bool are_codes(const Node* terms);

}  // namespace weft
