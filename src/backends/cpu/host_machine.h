// This processor, as schedules are chosen for it: its caches as the system says they are, its speeds as
// those of the processor that the model of kernels is tuned on.
#pragma once

#include <weft/dev/device/machine.h>

namespace weft::cpu {

Machine host_machine(int vector_bytes);

}  // namespace weft::cpu
