#include <weft/settings.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <iterator>
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

std::string settings_key(Affects affects) {
  std::string key;
  for (const SettingInfo& info : all_settings())
    if (info.affects == affects) key += " " + setting(info.name);
  return key;
}

const std::vector<SettingInfo>& all_settings() {
  static const std::vector<SettingInfo> table{
      {"ALGEBRA", "1", Affects::Kernels,
       "0: no algebraic simplification, only the rewrites that lowering needs"},
      {"ALLREDUCE", "", Affects::Plans,
       "how devices combine the parts of a sharded sum: naive, ring or all2all; default: by its "
       "size"},
      {"ATTENTION_MEMORY", "256", Affects::Nothing,
       "MB: the gradient of an attention with a larger score matrix recomputes the scores instead "
       "of storing them; its memory is then linear in the number of tokens"},
      {"BEAM", "0", Affects::Plans,
       "n: time the n schedules of each kernel that the cost model ranks best, then variations of "
       "the fastest, and keep the best"},
      {"BEAM_BUDGET", "5", Affects::Nothing,
       "seconds that this search may take for each kernel; a larger budget resumes a search that "
       "ran out of time"},
      {"CACHE_DIR", "", Affects::Nothing,
       "folder of the disk cache, for plans, compiled kernels, found schedules and measured "
       "speeds; none: no disk cache; default: weft in the user's cache folder"},
      {"CACHE_LIMIT", "", Affects::Nothing,
       "largest size of the plans, compiled kernels and measured speeds in that folder, such as "
       "500MB or 2GB; the least recently used are removed; none: no limit; default: what weft "
       "cache --limit has set, else 1GB"},
      {"CALIBRATE", "1", Affects::Kernels,
       "0: the cost model assumes typical speeds instead of those measured on this machine"},
      {"CC", "", Affects::Nothing,
       "C compiler with which weft compile links shared libraries; default: the target's, on PATH"},
      {"CHECK", "0", Affects::Nothing,
       "1: compute the integers that name places and classes when they are given, and refuse those "
       "outside of what they count; otherwise reading there gives 0 and writing does nothing"},
      {"CLANG", "0", Affects::Nothing,
       "1: the device CPU compiles kernels from C with clang, not with LLVM"},
      {"DEV", "", Affects::Nothing,
       "device of new tensors, also spelled DEVICE; default: the device D for which the "
       "environment has D=1, else CPU",
       "DEVICE"},
      {"DEBUG", "0", Affects::Nothing,
       "1: print kernels and time of every realize; 2: also a line for each kernel, with the "
       "source line of the program that made it; 3: also its schedule and source, and time and "
       "size of every pass; 4: also the IR after every pass"},
      {"DIGITS", "1", Affects::Plans,
       "0: vectors times quantised matrices are computed in f32 alone, not by int8 products (int8 "
       "limb decomposition)"},
      {"DUMP", "", Affects::Nothing, "print the IR after these passes: a,b"},
      {"FASTMATH", "0", Affects::Kernels,
       "1: rewrite floats as if NaN, infinity and -0 did not occur; fuse a*b + c into one "
       "rounding"},
      {"INTERP_BACKWARD", "0", Affects::Nothing,
       "1: INTERP runs the items of a work-group in reverse order, which exposes kernels that "
       "depend on it"},
      {"IN_PLACE", "1", Affects::Plans,
       "buffer reuse: kernels store over a buffer that they read for the last time; 0: never; 1: "
       "where that lowers peak memory or costs no time; 2: wherever possible"},
      {"JIT", "1", Affects::Nothing,
       "0: functions given to jit() build and run their graph in every call instead of replaying "
       "kernels"},
      {"LAYOUTS", "1", Affects::Plans,
       "0: no layout assignment, buffers between kernels keep the order of dimensions of the "
       "graph"},
      {"LENGTHS", "1", Affects::Nothing,
       "1: dynamic shapes, a graph that is run with its third length is compiled for all lengths "
       "between two powers of two, and for one length once that was run often; 0: for each length "
       "by itself; 2: dynamic shapes at once, which tests them"},
      {"LOOPS", "1", Affects::Plans,
       "0: no loop re-rolling, steps that a program repeats stay unrolled as in its graph"},
      {"NOOPT", "0", Affects::Kernels, "1: no kernel optimisation, plain loops without vectors"},
      {"RECOMPUTE", "3", Affects::Plans,
       "percent by which a run may take longer, by the cost model, to recompute values rather "
       "than store them where memory peaks"},
      {"SIZE_LIMITS", "1", Affects::Kernels,
       "0: transformations that pay for large kernels alone, such as concat elimination, fission "
       "or "
       "threads, also apply to small ones, which tests them"},
      {"SPEC", "0", Affects::Nothing, "1: verify the IR after every pass"},
      {"SKIP", "", Affects::Kernels, "omit these optional passes (see weft list passes): a,b"},
      {"VALIDATE", "0", Affects::Nothing,
       "1: prove with Z3, after every pass, that every index is inside its buffer; 2: also "
       "interpret small kernels before and after it, and compare what they write"},
      {"WEFT_THREADS", "", Affects::Nothing,
       "number of threads; default: one for each core that this process may use"},
      {"WINOGRAD", "4", Affects::Plans,
       "outputs along each axis of the largest tile of Winograd convolutions: 4 or 2; 0: no "
       "Winograd convolutions"},
      {"WINOGRAD_BAND", "512", Affects::Plans,
       "KiB for each thread, about, that the buffers inside a Winograd convolution take: larger "
       "ones are computed in blocks (spatial blocking); 0: no blocks"},
      {"WINOGRAD_ERROR", "64", Affects::Plans,
       "largest expected rounding error of a Winograd convolution, in 2^-24 of the root mean "
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

SettingValues context_values() {
  SettingValues values;
  for (const auto& [name, value] : overrides) values.emplace_back(name, value);
  return values;
}

Context::Context(std::initializer_list<std::pair<std::string_view, SettingValue>> values)
    : Context(SettingValues(values.begin(), values.end())) {}

Context::Context(const SettingValues& values) : count_(values.size()) {
  std::vector<Override> own;
  for (const auto& [name, value] : values)
    own.push_back({std::string(find_setting(name).name), value.text});
  overrides.insert(overrides.end(), std::move_iterator(own.begin()), std::move_iterator(own.end()));
  ++changes;
}

Context::~Context() {
  overrides.resize(overrides.size() - count_);
  ++changes;
}

}  // namespace weft
