// What vector instructions take on processors whose makers say so: the same on each of a model, whatever else runs on it.
#pragma once

#include <string_view>

#include <weft/dev/device/device_model.h>

namespace weft::cpu {

// Sets what is known of a processor by its name in LLVM, with vectors as wide as the machine's. Says whether anything is.
bool set_known_ports(std::string_view model, DeviceModel& machine);

}  // namespace weft::cpu
