// Which devices there are. The library's own are added by the generated add_backends(), which
// calls every backend by name: static initialisers would vanish from a static library.

#include <algorithm>
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
  OpenNamedDevice open;
  bool has_numbers;
};

struct Registry {
  std::recursive_mutex mutex;  // a device may be built on another
  std::map<std::string, Entry, std::less<>> kinds;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Device>> open;
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

// What stands behind the colon in "CPU:3"; nothing is 0.
int number_in(std::string_view name, std::string_view digits) {
  int index = -1;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), index);
  if (error != std::errc() || end != digits.end() || index < 0)
    user_error(
        fmt::format("'{}' is not the name of a device: after the colon stands its number", name));
  return index;
}

void add(std::string_view kind, const Entry& entry) {
  Registry& all = filled_registry();
  const std::lock_guard lock(all.mutex);
  if (!all.kinds.try_emplace(std::string(kind), entry).second)
    user_error(fmt::format("there is a device {} already", kind));
}

const Entry& find_kind(const Registry& all, std::string_view name, std::string_view kind) {
  const auto found = all.kinds.find(kind);
  if (found != all.kinds.end()) return found->second;
  std::vector<std::string_view> known;
  for (const auto& [known_name, entry] : all.kinds) known.push_back(known_name);
  user_error(fmt::format("there is no device '{}'; there are {}", name, fmt::join(known, ", ")));
}

}  // namespace

void add_device(std::string_view kind, std::string_view meaning, OpenDevice open) {
  const auto by_number = [open = std::move(open)](std::string_view number) {
    return open(number_in(number, number));
  };
  add(kind, {std::string(meaning), by_number, true});
}

void add_named_device(std::string_view kind, std::string_view meaning, OpenNamedDevice open) {
  add(kind, {std::string(meaning), std::move(open), false});
}

Device& find_device(std::string_view name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string_view kind = name.substr(0, colon);
  std::string rest(name.substr(std::min(colon + 1, name.size())));
  Registry& all = filled_registry();
  const std::lock_guard lock(all.mutex);
  const Entry& entry = find_kind(all, name, kind);
  // "CPU" and "CPU:00" are "CPU:0".
  if (entry.has_numbers) rest = std::to_string(colon == name.size() ? 0 : number_in(name, rest));
  std::unique_ptr<Device>& device = all.open[{std::string(kind), rest}];
  if (device == nullptr) device = entry.open(rest);
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
