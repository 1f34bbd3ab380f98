// Buffer reuse within a kernel: memory that is computed element by element from other memory of the
// kernel overwrites it.
#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// Returns the kernel with such buffers merged. The exponentials of attention overwrite scores that
// nothing else reads, for example, which halves the working set.
UOp reuse_buffers(const UOp& kernel);

}  // namespace weft
