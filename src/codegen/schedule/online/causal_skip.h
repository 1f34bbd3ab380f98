// What a comparison of places hides: blocks of a maximum's iterations, and iterations of sums.
#pragma once

#include <functional>

#include <weft/dev/ir/uop.h>

namespace weft {

// How many iterations of a loop over blocks come before those in which all that the maximum is found of is minus infinity, in terms
// of the loops around it: at least one, at most all. Null where no comparison says so.
//
//   WHERE(i < 64 * block + j, -inf, x)   ->   (the most that i is) / 64 + 1
UOp iterations_before_hidden(const Node* maximum, const Node* blocks, NodeList around);

// How many iterations of a sum's loop come before those in which a factor of what it sums is the EXP2 of minus infinity, in terms of
// all loops that the factor changes with. Null where no comparison says so.
UOp iterations_before_zero(const Node* sum, const Node* range);

// The most that a number of iterations is in all loops that do not stand around.
UOp most_iterations(const UOp& iterations, const std::function<bool(const Node*)>& stands_around);

}  // namespace weft
