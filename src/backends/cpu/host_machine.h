// This processor, as schedules are chosen for it.
#pragma once

#include <weft/dev/device/machine.h>

namespace weft::cpu {

Machine host_machine(int vector_bytes);

}  // namespace weft::cpu
