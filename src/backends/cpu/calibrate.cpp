#include "calibrate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <new>

#include <fmt/format.h>

namespace weft::cpu {
namespace {

constexpr double most_times = 2;  // as fast or as slow as assumed

struct Speed {
  std::string_view name;
  double& (*of)(DeviceModel&);
  double step;  // in which processors have it; 0: in any
  bool is_of_all;
};
constexpr Speed speeds[] = {
    {"hertz", [](DeviceModel& m) -> double& { return m.hertz; }, 0, false},
    {"fma_ports", [](DeviceModel& m) -> double& { return m.fma_ports; }, 0.5, false},
    {"fma_latency", [](DeviceModel& m) -> double& { return m.fma_latency; }, 1, false},
    {"load_ports", [](DeviceModel& m) -> double& { return m.load_ports; }, 0.5, false},
    {"halves", [](DeviceModel& m) -> double& { return m.halves; }, 0.5, false},
    {"launch", [](DeviceModel& m) -> double& { return m.launch(); }, 0, true},
};

double within(double value, double assumed, double most) {
  return std::clamp(value, assumed / most_times, assumed * most);
}

// "NAME NUMBER\n" of the front of the text, which is then without it.
bool read_line(std::string_view& text, std::string_view name, double& value) {
  if (!text.starts_with(name) || text.substr(name.size(), 1) != " ") return false;
  const char* const from = text.data() + name.size() + 1;
  const char* const to = text.data() + text.size();
  const auto [end, error] = std::from_chars(from, to, value);
  if (error != std::errc() || end == to || *end != '\n') return false;
  text.remove_prefix(static_cast<std::size_t>(end + 1 - text.data()));
  return true;
}

}  // namespace

DeviceModel believed(DeviceModel measured, DeviceModel assumed) {
  // What all have to do with is made for as many as there are.
  const double most_of_all = most_times * assumed.workers();
  for (const Speed& speed : speeds) {
    double& value = speed.of(measured);
    value = within(value, speed.of(assumed), speed.is_of_all ? most_of_all : most_times);
    if (speed.step > 0) value = std::round(value / speed.step) * speed.step;
  }
  for (std::size_t i = 0; i < assumed.memory.size(); ++i) {
    MemorySpace& level = measured.memory[i];
    level.bandwidth = within(level.bandwidth, assumed.memory[i].bandwidth,
                             level.is_shared ? most_of_all : most_times);
  }
  return measured;
}

std::string speeds_of(DeviceModel machine) {
  std::string text;
  for (const Speed& speed : speeds)
    text += fmt::format("{} {:.2g}\n", speed.name, speed.of(machine));
  for (const MemorySpace& level : machine.memory)
    text += fmt::format("bandwidth {:.2g}\n", level.bandwidth);
  return text;
}

std::optional<DeviceModel> with_speeds(DeviceModel assumed, std::string_view text) {
  for (const Speed& speed : speeds)
    if (!read_line(text, speed.name, speed.of(assumed))) return std::nullopt;
  for (MemorySpace& level : assumed.memory)
    if (!read_line(text, "bandwidth", level.bandwidth)) return std::nullopt;
  return text.empty() ? std::optional(assumed) : std::nullopt;
}

DeviceModel calibrated(const DiskCache& cache, std::string_view key, const DeviceModel& assumed,
                       const std::function<DeviceModel()>& measure) {
  const auto known = [&] {
    const auto text = cache.find(key);
    return text ? with_speeds(assumed, *text) : std::nullopt;
  };
  if (const auto machine = known()) return *machine;
  // First of all what is assumed: other processes that start now do not measure beside this one.
  cache.keep(key, speeds_of(assumed));
  if (!known()) return assumed;
  try {
    cache.keep(key, speeds_of(believed(measure(), assumed)));
  } catch (const std::bad_alloc&) {
    return assumed;
  }
  return known().value_or(assumed);
}

}  // namespace weft::cpu
