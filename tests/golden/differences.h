// Gradients of the golden methods against what small steps change.
#pragma once

#include "golden.h"

namespace weft::golden {

// One test for each method of the group.
void add_difference_tests(const Group& group);

}  // namespace weft::golden
