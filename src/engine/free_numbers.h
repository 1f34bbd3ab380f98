// Numbers of a program that change from run to run, as a learning rate does: with the second value that a graph is seen
// with, they become variables of it, and one plan serves all values.
#pragma once

#include "resolve.h"

namespace weft {

// Whether the graph was seen before with other numbers; then it has variables in their place.
bool free_numbers(Resolved& resolved);

}  // namespace weft
