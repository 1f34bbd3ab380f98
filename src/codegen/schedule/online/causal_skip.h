// Finds the iterations that a comparison of indices masks: blocks of a maximum, and iterations of
// sums.
#pragma once

#include <functional>

#include <weft/dev/ir/uop.h>

namespace weft {

// Returns how many iterations of a loop over blocks come before those in which the maximum's
// operand is always minus infinity, in terms of the outer loops: at least one, at most all.
// Returns null if no comparison bounds them.
//
//   WHERE(i < 64 * block + j, -inf, x)   ->   (the maximum of i) / 64 + 1
UOp visible_iterations(const Node* maximum, const Node* blocks,
                       const std::function<bool(const Node*)>& is_outer);

// Returns how many iterations of a sum's loop come before those in which a factor of its operand is
// always EXP2 of minus infinity, in terms of the other loops that the factor depends on. Returns
// null if no comparison bounds them.
UOp iterations_before_zero(const Node* sum, const Node* range);

// Returns an upper bound of a number of iterations over all loops that are not outer ones.
UOp max_iterations(const UOp& iterations, const std::function<bool(const Node*)>& is_outer);

}  // namespace weft
