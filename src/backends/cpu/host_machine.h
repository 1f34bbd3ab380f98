// This processor, as schedules are chosen for it: its caches as the system says they are, its speeds as
// those of the processor that the model of kernels is tuned on.
#pragma once

#include <weft/dev/device/device_model.h>

namespace weft::cpu {

DeviceModel host_machine(int vector_bytes);

}  // namespace weft::cpu
