#pragma once

#include "machine.h"

namespace weft::interp {

// Runs the kernel with all of its workers. Those of the launch grid run one after the other; the items
// of a work-group in turns, each from one barrier to the next. INTERP_BACKWARD=1: the last item first.
void launch(const Steps& steps, const Signature& signature, std::span<const Argument> arguments,
            std::span<const std::int64_t> values);

}  // namespace weft::interp
