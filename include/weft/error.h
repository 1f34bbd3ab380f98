// Errors: one exception type, and the two ways of raising it.
#pragma once

#include <stdexcept>
#include <string>

namespace weft {

// Thrown for everything that goes wrong. After it, every object still alive can be used again.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller asked for something impossible: say what, with the op and the shapes.
[[noreturn]] void user_error(const std::string& message);

// weft itself is wrong: say which pass or rule, and show the offending part of the graph.
[[noreturn]] void internal_error(const std::string& message);

}  // namespace weft
