// Simplifies slices of a concat, such as those in the gradient of a concat.
#pragma once

#include <weft/dev/rewrite/rewriter.h>

namespace weft {

// A SHRINK that reads only one side of a WHERE with a padded mask becomes a SHRINK of that side,
// and nested SHRINKs become one.
const RuleSet& concat_slice_rules();

}  // namespace weft
