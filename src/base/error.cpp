#include <weft/error.h>

#include <string_view>

#include <weft/dev/base/called.h>

namespace weft {
namespace {

thread_local std::string_view called;

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

// Without the method that it begins with, "sum: " or "[]: ". What begins with a capital is a device, or a switch.
std::string_view without_method(std::string_view message) {
  const std::size_t end = message.find(": ");
  const std::string_view name = message.substr(0, end);
  const bool is_method = end != std::string_view::npos && !is_capital(message[0]) &&
                         name.find_first_of(" '\"=") == std::string_view::npos;
  return is_method ? message.substr(end + 2) : message;
}

std::string in_its_name(const std::string& message) {
  if (called.empty()) return message;
  return std::string(called).append(": ").append(without_method(message));
}

}  // namespace

Called::Called(std::string_view method) : is_outermost_(called.empty()) {
  if (is_outermost_) called = method;
}

Called::~Called() {
  if (is_outermost_) called = {};
}

void user_error(const std::string& message) { throw Error(in_its_name(message)); }

void internal_error(const std::string& message) {
  throw Error(in_its_name("internal error: " + message));
}

}  // namespace weft
