// What a call complains of.
#pragma once

#include <string>

#include <weft/error.h>

namespace weft {

template <class F>
std::string error_of(F&& f) {
  try {
    static_cast<void>(f());
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace weft
