// Which device new tensors are on.

#include <algorithm>
#include <cstdlib>

#include <weft/dev/device/device.h>
#include <weft/settings.h>

namespace weft {
namespace {

// As in INTERP=1. What is a setting as well, such as CLANG, is not about this.
bool is_asked_for(const std::string& kind) {
  if (std::ranges::find(all_settings(), kind, &SettingInfo::name) != all_settings().end())
    return false;
  const char* value = std::getenv(kind.c_str());
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

std::string default_device() {
  if (std::string name = setting("DEV"); !name.empty()) return name;
  for (const DeviceKind& kind : device_kinds())
    if (is_asked_for(kind.name)) return kind.name;
  return "CPU";
}

DefaultDevice Device::DEFAULT;

DefaultDevice::operator std::string() const { return default_device(); }

DefaultDevice& DefaultDevice::operator=(std::string_view name) {
  if (!name.empty()) find_device(name);
  set_setting("DEV", name);
  return *this;
}

}  // namespace weft
