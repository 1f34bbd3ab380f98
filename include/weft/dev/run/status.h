// What goes wrong in the C API: a code, and words for the thread that asked. What is in src/run needs libc alone.
#pragma once

#include <weft/weft_c.h>

namespace weft::capi {

// Keeps the words for weft_last_error(), and returns the code.
__attribute__((format(printf, 2, 3))) int fail(weft_status status, const char* format, ...);

}  // namespace weft::capi
