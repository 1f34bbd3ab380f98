#include <weft/dev/base/size_limits.h>

#include <weft/settings.h>

namespace weft {

double least_work(double limit) {
  thread_local KnownSetting<bool> known;
  return known.value([] { return setting_int("SIZE_LIMITS") != 0; }) ? limit : 0;
}

}  // namespace weft
