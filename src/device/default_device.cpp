// Which device new tensors are on.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/base/environment.h>
#include <weft/dev/device/device.h>
#include <weft/error.h>
#include <weft/settings.h>

namespace weft {
namespace {

// The devices that tinygrad's users switch on so. Asking for one that this build lacks is an error.
constexpr std::string_view devices_of_tinygrad[] = {"AMD",   "CL", "CUDA", "DSP",   "GPU",
                                                    "METAL", "NV", "QCOM", "WEBGPU"};

// What is a setting as well, such as CLANG, is not about this.
bool is_setting(std::string_view name) {
  return std::ranges::find(all_settings(), name, &SettingInfo::name) != all_settings().end();
}

// In the environment, as in INTERP=1.
std::vector<std::string> switched_on() {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (environment_switch(name) != 0 && !is_setting(name) &&
        std::ranges::find(names, name) == names.end())
      names.emplace_back(name);
  };
  for (const DeviceKind& kind : device_kinds())
    if (kind.has_numbers) add(kind.name);
  for (const std::string_view name : devices_of_tinygrad) add(name);
  return names;
}

[[noreturn]] void refuse(const std::vector<std::string>& names, const std::string& why) {
  std::vector<std::string> switches;
  for (const std::string& name : names)
    switches.push_back(fmt::format("{}={}", name, environment_switch(name)));
  user_error(fmt::format("{} in the environment: {}", fmt::join(switches, ", "), why));
}

void check(const std::string& name) {
  std::vector<std::string> known;
  for (const DeviceKind& kind : device_kinds()) known.push_back(kind.name);
  if (std::ranges::find(known, name) == known.end())
    refuse({name}, fmt::format("there is no device '{}'; there are {} (DEV names one)", name,
                               fmt::join(known, ", ")));
}

}  // namespace

std::string default_device() {
  if (std::string name = setting("DEV"); !name.empty()) return name;
  const std::vector<std::string> names = switched_on();
  if (names.empty()) return "CPU";
  for (const std::string& name : names) check(name);
  if (names.size() > 1) refuse(names, "only one device can be the default (DEV names one)");
  return names[0];
}

DefaultDevice Device::DEFAULT;

DefaultDevice::operator std::string() const { return default_device(); }

DefaultDevice& DefaultDevice::operator=(std::string_view name) {
  if (!name.empty()) find_device(name);
  set_setting("DEV", name);
  return *this;
}

}  // namespace weft
