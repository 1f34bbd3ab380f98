// Parts of what is joined, as gradients of a join take them.
#pragma once

#include <weft/dev/rewrite/rewriter.h>

namespace weft {

// A part of a choice between places is a part of what is chosen there; a part of a part is one part.
const RuleSet& concat_slice_rules();

}  // namespace weft
