// Which devices there are. The library's own are added by the generated add_backends(), which
// calls every backend by name: static initialisers would vanish from a static library.

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <weft/dev/device/device.h>
#include <weft/error.h>

namespace weft {

void add_backends();

namespace {

struct Entry {
  std::string meaning;
  OpenDeviceOfMake open;  // what has names instead of numbers is of that make
  bool has_numbers, has_makes;
};

struct Registry {
  std::recursive_mutex mutex;  // a device may be built on another
  std::map<std::string, Entry, std::less<>> kinds;
  std::map<std::tuple<std::string, std::string, int>, std::unique_ptr<Device>> open;
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
    try {
      add_backends();
    } catch (...) {  // the next who asks begins anew
      registry().kinds.clear();
      is_filling = false;
      throw;
    }
    return is_filling = false, true;
  }();
  static_cast<void>(filled);
  return registry();
}

// The 3 of "CPU:3", where it is a number.
std::optional<int> number_in(std::string_view digits) {
  int index = -1;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), index);
  if (error != std::errc() || end != digits.end() || index < 0) return std::nullopt;
  return index;
}

// What stands behind the colon: a make, a number, or both.
struct Rest {
  std::string make;
  int index = 0;
};

Rest parse_rest(std::string_view name, std::string_view rest, const Entry& entry) {
  if (!entry.has_numbers) return {std::string(rest), 0};
  const std::size_t last = rest.rfind(':') + 1;  // 0 where there is none
  const auto index = number_in(rest.substr(last));
  if (entry.has_makes && !rest.empty() && !index) return {std::string(rest), 0};
  if (!index || last == 1 || (last > 0 && !entry.has_makes))
    user_error(
        fmt::format("'{}' is not the name of a device: after the colon stands its number", name));
  return {std::string(rest.substr(0, last > 0 ? last - 1 : 0)), *index};
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

// Kinds have no small letters: "cpu" is CPU.
std::string in_capitals(std::string_view kind) {
  std::string name(kind);
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return name;
}

bool has_numbers(std::string_view kind) {
  Registry& all = filled_registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.kinds.find(kind);
  return found != all.kinds.end() && found->second.has_numbers;
}

}  // namespace

void add_device(std::string_view kind, std::string_view meaning, OpenDevice open) {
  const auto by_number = [open = std::move(open)](std::string_view, int index) {
    return open(index);
  };
  add(kind, {std::string(meaning), by_number, true, false});
}

void add_device_of_makes(std::string_view kind, std::string_view meaning, OpenDeviceOfMake open) {
  add(kind, {std::string(meaning), std::move(open), true, true});
}

void add_named_device(std::string_view kind, std::string_view meaning, OpenNamedDevice open) {
  const auto by_name = [open = std::move(open)](std::string_view name, int) { return open(name); };
  add(kind, {std::string(meaning), by_name, false, false});
}

Device& find_device(std::string_view name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string kind = in_capitals(name.substr(0, colon));
  Registry& all = filled_registry();
  const std::lock_guard lock(all.mutex);
  const Entry& entry = find_kind(all, name, kind);
  // "CPU" and "CPU:00" are "CPU:0".
  const Rest rest = colon == name.size() ? Rest{} : parse_rest(name, name.substr(colon + 1), entry);
  std::unique_ptr<Device>& device = all.open[{kind, rest.make, rest.index}];
  if (device == nullptr) device = entry.open(rest.make, rest.index);
  return *device;
}

// A device that has a name instead of a number, such as DISK:path, may have commas in it.
std::vector<Device*> find_devices(std::string_view names) {
  std::vector<Device*> devices;
  while (true) {
    const std::string kind = in_capitals(names.substr(0, names.find_first_of(":,")));
    const std::size_t comma = has_numbers(kind) ? names.find(',') : std::string_view::npos;
    devices.push_back(&find_device(names.substr(0, comma)));
    if (comma == std::string_view::npos) return devices;
    names.remove_prefix(comma + 1);
  }
}

bool are_several(std::string_view names) {
  return names.find(',') != std::string_view::npos && find_devices(names).size() > 1;
}

std::vector<DeviceKind> device_kinds() {
  Registry& all = filled_registry();
  const std::lock_guard lock(all.mutex);
  std::vector<DeviceKind> kinds;
  for (const auto& [name, entry] : all.kinds)
    kinds.push_back({name, entry.meaning, entry.has_numbers});
  return kinds;
}

}  // namespace weft
