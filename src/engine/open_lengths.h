// Lengths that change from run to run, as those of texts do: once a graph has been seen with several, they become variables of
// it, and one plan serves all lengths between two powers of two. A length that comes again and again gets a plan of its own.
#pragma once

#include "resolve.h"

namespace weft {

// Whether lengths of the graph are variables now.
bool open_lengths(Resolved& resolved);

// What was concluded of graphs that differ from this one in their sizes alone, where no plan came of it.
void forget_conclusion(const Resolved& resolved);

}  // namespace weft
