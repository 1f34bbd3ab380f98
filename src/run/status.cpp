#include <cstdarg>
#include <cstdio>

#include <weft/dev/run/status.h>

namespace weft::capi {
namespace {

constexpr const char* status_names[] = {
    "WEFT_OK",         "WEFT_INVALID_ARGUMENT", "WEFT_CLOSED",    "WEFT_OUT_OF_RANGE",
    "WEFT_WRONG_SIZE", "WEFT_WRONG_DTYPE",      "WEFT_NOT_SET",   "WEFT_NO_FILE",
    "WEFT_BAD_FILE",   "WEFT_UNSUPPORTED",      "WEFT_NO_MEMORY", "WEFT_FAILED",
};
static_assert(sizeof status_names / sizeof *status_names == WEFT_FAILED + 1);

thread_local char last_error[1024];

}  // namespace

int fail(weft_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  return status;
}

}  // namespace weft::capi

const char* weft_status_name(int status) {
  const bool is_known = status >= 0 && status <= WEFT_FAILED;
  return is_known ? weft::capi::status_names[status] : "unknown status";
}

const char* weft_last_error(void) { return weft::capi::last_error; }
