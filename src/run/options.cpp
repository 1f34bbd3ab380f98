#include <sched.h>

#include <cstdlib>
#include <cstring>

#include <weft/dev/run/model.h>

namespace weft::capi {
namespace {

constexpr int most_threads = 1024;

int read_threads(const char* text, int& threads) {
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || number < 1 || number > most_threads)
    return fail(WEFT_INVALID_ARGUMENT, "threads=%s: expected 1 to %d", text, most_threads);
  threads = static_cast<int>(number);
  return WEFT_OK;
}

int read_option(const char* option, OpenOptions& options) {
  if (const char* threads = value_of(option, "threads"))
    return read_threads(threads, options.threads);
  if (const char* verify = value_of(option, "verify")) {
    options.verify = std::strcmp(verify, "1") == 0;
    if (!options.verify && std::strcmp(verify, "0") != 0)
      return fail(WEFT_INVALID_ARGUMENT, "verify=%s: expected 0 or 1", verify);
  } else if (const char* device = value_of(option, "device")) {
    options.device = device;
  } else if (const char* precision = value_of(option, "precision")) {
    options.precision = precision;
  } else if (std::strncmp(option, "shape.", 6) == 0 && std::strchr(option, '=') != nullptr) {
    options.has_shapes = true;
  } else {
    return fail(WEFT_INVALID_ARGUMENT, "there is no option '%.200s'", option);
  }
  return WEFT_OK;
}

}  // namespace

const char* value_of(const char* option, const char* key) {
  const std::size_t length = std::strlen(key);
  const bool is_it = std::strncmp(option, key, length) == 0 && option[length] == '=';
  return is_it ? option + length + 1 : nullptr;
}

int read_options(const char* const* given, OpenOptions& options) {
  options.all = given;
  if (given == nullptr) return WEFT_OK;
  for (const char* const* option = given; *option != nullptr; ++option)
    if (const int problem = read_option(*option, options)) return problem;
  return WEFT_OK;
}

int cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace weft::capi
