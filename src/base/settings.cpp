#include <weft/settings.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <shared_mutex>

#include <fmt/core.h>
#include <weft/error.h>

namespace weft {
namespace {

struct Override {
  std::string name, value;
};
thread_local std::vector<Override> overrides;

std::atomic<std::uint64_t> changes = 0;

// Of all threads. Settings are read often and set rarely, mostly never.
std::atomic<bool> any_set = false;
std::shared_mutex set_mutex;
std::map<std::string_view, std::string> set_values;  // by the names in the table

std::string value_set(std::string_view name) {
  if (!any_set) return {};
  const std::shared_lock lock(set_mutex);
  const auto found = set_values.find(name);
  return found == set_values.end() ? std::string() : found->second;
}

const SettingInfo& find_setting(std::string_view name) {
  const auto& table = all_settings();
  const auto found = std::ranges::find_if(table, [&](const SettingInfo& info) {
    return info.name == name || (!name.empty() && info.alias == name);
  });
  if (found == table.end()) user_error(fmt::format("there is no setting {}", name));
  return *found;
}

}  // namespace

const std::vector<SettingInfo>& all_settings() {
  static const std::vector<SettingInfo> table{
      {"ALGEBRA", "1", "0: no algebraic rewrites, only what lowering needs"},
      {"ALLREDUCE", "",
       "how devices add up what each has a part of: naive, ring or all2all; default: by size"},
      {"ATTENTION_MEMORY", "256",
       "MB: where the scores of an attention take more, its gradients compute them again, in "
       "memory "
       "that grows with tokens alone"},
      {"BEAM", "0",
       "n: measure the n best schedules of each kernel, and others near the fastest; keep the "
       "best"},
      {"BEAM_BUDGET", "5",
       "seconds that measuring may take for each kernel; with more, a search that was ended goes "
       "on"},
      {"CACHE_DIR", "",
       "where plans, compiled kernels, found schedules and measured speeds are kept; none: "
       "nowhere; "
       "default: the user's cache"},
      {"CALIBRATE", "1",
       "0: schedules are chosen for a processor of assumed speeds, not for those measured here"},
      {"CC", "",
       "the C compiler that links shared libraries of weft compile; default: that of the target on "
       "PATH"},
      {"CLANG", "0", "1: compile kernels for the CPU from C by clang, not by LLVM"},
      {"DEV", "",
       "the device of new tensors, also as DEVICE; default: the kind K for which the environment "
       "says K=1, else CPU",
       "DEVICE"},
      {"DEBUG", "0",
       "1: kernels and time of every realize; 2: a line for each kernel, with the line of the "
       "program that made it; 3: its source, and time and size of every pass; 4: the IR after it"},
      {"DIGITS", "1",
       "0: vectors times matrices of packed codes in f32 alone, never as products of bytes"},
      {"DUMP", "", "print the IR after this pass only"},
      {"FASTMATH", "0", "1: rewrite floats as if there were no NaN, infinity and -0; fuse a*b + c"},
      {"INTERP_BACKWARD", "0",
       "1: INTERP runs the last item of a work-group first, which finds what needs their order"},
      {"IN_PLACE", "1",
       "0: what a kernel stores never takes the place of what it reads; 2: wherever it can, not "
       "only where most memory is needed or the kernel is no slower by it"},
      {"JIT", "1", "0: functions given to jit() run by their graphs in every call"},
      {"LAYOUTS", "1",
       "0: what lies between kernels has the order of dimensions that the graph has"},
      {"LOOPS", "1", "0: steps that a program repeats run one by one, as the graph has them"},
      {"NOOPT", "0", "1: no vectors, the plain loops"},
      {"RECOMPUTE", "3",
       "percent: how much longer a run may take, by the cost model, so that it needs less memory: "
       "values are computed again rather than kept"},
      {"SPEC", "0", "1: verify the IR after every pass"},
      {"SKIP", "", "leave these passes out: a,b"},
      {"VALIDATE", "0", "1: prove with Z3 that every index is inside its buffer"},
      {"WEFT_THREADS", "",
       "how many threads compute; default: as many as cores that this process may run on"},
      {"WINOGRAD", "4",
       "outputs of a tile along an axis, at most, of convolutions by fewer products: 4, 2, or 0 "
       "for none"},
      {"WINOGRAD_BAND", "512",
       "KiB for each thread, about, of what such a convolution has between its steps: it goes "
       "through its images in bands; 0: all at once"},
      {"WINOGRAD_ERROR", "64",
       "rounding error, at most, that is expected of such a convolution, in 2^-24 of the root mean "
       "square of its outputs"},
  };
  return table;
}

std::string setting(std::string_view name) {
  const SettingInfo& info = find_setting(name);
  for (auto it = overrides.rbegin(); it != overrides.rend(); ++it)
    if (it->name == info.name) return it->value;
  if (std::string value = value_set(info.name); !value.empty()) return value;
  for (std::string_view spelling : {info.name, info.alias}) {
    const char* value = spelling.empty() ? nullptr : std::getenv(std::string(spelling).c_str());
    if (value != nullptr && *value != '\0') return value;
  }
  return std::string(info.fallback);
}

std::int64_t setting_int(std::string_view name) {
  const std::string text = setting(name);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    user_error(fmt::format("{}={}: expected an integer", name, text));
  return value;
}

void set_setting(std::string_view name, const SettingValue& value) {
  const SettingInfo& info = find_setting(name);
  const std::unique_lock lock(set_mutex);
  set_values[info.name] = value.text;
  any_set = true;
  ++changes;
}

std::uint64_t setting_changes() { return changes.load(std::memory_order_acquire); }

std::int64_t debug_level() {
  thread_local KnownSetting<std::int64_t> known;
  return known.value([] { return setting_int("DEBUG"); });
}

Context::Context(std::initializer_list<std::pair<std::string_view, SettingValue>> values)
    : count_(values.size()) {
  for (const auto& [name, value] : values) find_setting(name);
  for (const auto& [name, value] : values)
    overrides.push_back({std::string(find_setting(name).name), value.text});
  ++changes;
}

Context::~Context() {
  overrides.resize(overrides.size() - count_);
  ++changes;
}

}  // namespace weft
