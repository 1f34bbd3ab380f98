// What there is to say of a processor to people.
#pragma once

#include <weft/dev/device/device.h>

#include "processor.h"

namespace weft::cpu {

// With the instructions that kernels for the target use.
Hardware hardware_of(const Processor& processor, const Target& target);

}  // namespace weft::cpu
