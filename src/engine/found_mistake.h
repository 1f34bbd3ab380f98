// Whether an error says that the compiler is wrong where VALIDATE=2 looks for that: another schedule would hide it.
#pragma once

#include <exception>

#include <weft/dev/base/internal.h>
#include <weft/settings.h>

namespace weft {

inline bool is_found_mistake(const std::exception& error) {
  return setting_int("VALIDATE") > 1 && is_internal(error.what());
}

}  // namespace weft
