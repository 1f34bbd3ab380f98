// Switches that are variables of the environment and no settings, as in INTERP=1.
#pragma once

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace weft {

// The integer that the variable is, or 0: off. Programs use such names for other things too: CUDA=/usr/local/cuda.
inline int environment_switch(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  const std::string_view text = value == nullptr ? "" : value;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace weft
