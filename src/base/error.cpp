#include <weft/error.h>

#include <string_view>

#include <weft/dev/base/called.h>
#include <weft/dev/base/internal.h>

namespace weft {
namespace {

constexpr std::string_view internal = "internal error: ";

thread_local std::string_view called;

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

// As "sum" and "[]" are. What begins with a capital is a device, or a switch; "schedule" is that of a kernel, which
// the user may have written.
bool is_method(std::string_view name) {
  return !name.empty() && !is_capital(name[0]) && name != "schedule" &&
         name.find_first_of(" '\"=") == std::string_view::npos;
}

// Without the method that it begins with.
std::string_view without_method(std::string_view message) {
  const std::size_t end = message.find(": ");
  return end != std::string_view::npos && is_method(message.substr(0, end))
             ? message.substr(end + 2)
             : message;
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
  throw Error(in_its_name(std::string(internal) + message));
}

bool is_internal(std::string_view message) { return without_method(message).starts_with(internal); }

}  // namespace weft
