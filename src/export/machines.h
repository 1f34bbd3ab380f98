// Processors that libraries are written for, in numbers that makers publish: what is planned for one of them is the same on
// every machine that compiles.
#pragma once

#include <string_view>

#include <weft/dev/device/device_model.h>

namespace weft::exported {

// Of a name in the table there; another is an internal error.
DeviceModel machine_named(std::string_view name);

}  // namespace weft::exported
