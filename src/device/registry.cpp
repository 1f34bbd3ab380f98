// Which devices there are. The library's own are added by the generated add_backends(), which
// calls every backend by name: static initialisers would vanish from a static library.

#include <charconv>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <weft/dev/device/device.h>
#include <weft/error.h>

namespace weft {

void add_backends();

namespace {

struct Entry {
  std::string meaning;
  OpenDevice open;
};

struct Registry {
  std::recursive_mutex mutex;  // a device may be built on another
  std::map<std::string, Entry, std::less<>> kinds;
  std::map<std::pair<std::string, int>, std::unique_ptr<Device>> open;
};

Registry& registry() {
  // Leaked on purpose: buffers in static objects may outlive any destructor here.
  static auto& registry = *new Registry;
  return registry;
}

thread_local bool is_filling = false;

// With the library's own devices, which are there before any other.
Registry& filled_registry() {
  if (is_filling) return registry();
  static const bool filled = [] {
    is_filling = true;
    add_backends();
    return is_filling = false, true;
  }();
  static_cast<void>(filled);
  return registry();
}

// "CPU:3" is kind CPU, number 3.
std::pair<std::string, int> parse_name(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return {std::string(name), 0};
  const std::string_view digits = name.substr(colon + 1);
  int index = -1;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), index);
  if (error != std::errc() || end != digits.end() || index < 0)
    user_error(
        fmt::format("'{}' is not the name of a device: after the colon stands its number", name));
  return {std::string(name.substr(0, colon)), index};
}

}  // namespace

void add_device(std::string_view kind, std::string_view meaning, OpenDevice open) {
  Registry& all = filled_registry();
  const std::lock_guard lock(all.mutex);
  if (!all.kinds.try_emplace(std::string(kind), Entry{std::string(meaning), std::move(open)})
           .second)
    user_error(fmt::format("there is a device {} already", kind));
}

Device& find_device(std::string_view name) {
  const auto key = parse_name(name);
  Registry& all = filled_registry();
  const std::lock_guard lock(all.mutex);
  const auto kind = all.kinds.find(key.first);
  if (kind == all.kinds.end()) {
    std::vector<std::string_view> known;
    for (const auto& [known_name, entry] : all.kinds) known.push_back(known_name);
    user_error(fmt::format("there is no device '{}'; there are {}", name, fmt::join(known, ", ")));
  }
  std::unique_ptr<Device>& device = all.open[key];
  if (device == nullptr) device = kind->second.open(key.second);
  return *device;
}

std::vector<DeviceKind> device_kinds() {
  Registry& all = filled_registry();
  const std::lock_guard lock(all.mutex);
  std::vector<DeviceKind> kinds;
  for (const auto& [name, entry] : all.kinds) kinds.push_back({name, entry.meaning});
  return kinds;
}

}  // namespace weft
