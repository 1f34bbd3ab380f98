// Settings: every switch, from the environment or from a scope in the program.
//
//   SPEC=1 ./program                       for a whole run
//   Context loud{{"DEBUG", 4}};             for this thread until the end of the scope
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

// What depends on a setting, besides what reads it in every run: compiled kernels, or plans, which
// depend on all that kernels do. Both are cached by the values of these.
enum class Affects : std::uint8_t { Nothing, Kernels, Plans };

struct SettingInfo {
  std::string_view name, fallback;
  Affects affects;
  std::string_view meaning;
  std::string_view alias = {};  // another spelling of the name
};
const std::vector<SettingInfo>& all_settings();

// The values in force of all that affect this.
std::string settings_key(Affects affects);

// The value in force for this thread: the innermost Context, else what set_setting() says, else the
// environment, else the fallback. Throws for a name that is not in the table.
std::string setting(std::string_view name);
std::int64_t setting_int(std::string_view name);  // throws where the value is not an integer

struct SettingValue;
// For all threads from now on, in place of the environment; nothing gives the setting back to it. A
// Context goes first.
void set_setting(std::string_view name, const SettingValue& value);

// Counts what changes settings, of any thread.
std::uint64_t setting_changes();

// What follows from settings, for a thread that asks all the time: a look costs next to nothing, and
// may miss that the environment has changed since the program started.
template <class T>
class KnownSetting {
 public:
  template <class Read>
  T value(Read read) {
    if (const std::uint64_t now = setting_changes(); now != known_at_) {
      value_ = read();
      known_at_ = now;
    }
    return value_;
  }

 private:
  std::uint64_t known_at_ = UINT64_MAX;
  T value_{};
};
std::int64_t debug_level();  // DEBUG, known so

// A setting's value, as a number or as text.
struct SettingValue {
  SettingValue(std::int64_t number) : text(std::to_string(number)) {}  // NOLINT: reads as a value
  SettingValue(int number) : text(std::to_string(number)) {}           // NOLINT
  SettingValue(std::string_view value) : text(value) {}                // NOLINT
  SettingValue(const char* value) : text(value) {}                     // NOLINT
  std::string text;
};

using SettingValues = std::vector<std::pair<std::string, SettingValue>>;
// What the Contexts of this thread say, for the Context of a thread that works for it.
SettingValues context_values();

class Context {
 public:
  Context(std::initializer_list<std::pair<std::string_view, SettingValue>> values);
  explicit Context(const SettingValues& values);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  std::size_t count_;
};

}  // namespace weft
