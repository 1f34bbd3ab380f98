#include "kept_work.h"

#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/base/build_id.h>
#include <weft/dev/device/disk_cache.h>
#include <weft/settings.h>

namespace weft {
namespace {

std::string key_for(const char* what, const std::string& key) {
  return fmt::format("{} by {}\n{}", what, build_id(), key);
}

// Lists as their lengths and numbers, texts as their lengths and bytes. What is not as written is nothing.
class Reader {
 public:
  explicit Reader(const std::string& text) : in_(text) {}

  template <class T>
  T number() {
    long long number = 0;
    in_ >> number;
    return static_cast<T>(number);
  }
  template <class T>
  std::vector<T> numbers() {
    const auto count = length();
    std::vector<T> list;
    for (std::size_t i = 0; i < count && in_; ++i) list.push_back(number<T>());
    return list;
  }
  std::string text() {
    const auto count = length();
    in_.get();
    std::string bytes(count, '\0');
    in_.read(bytes.data(), static_cast<std::streamsize>(count));
    return bytes;
  }
  std::size_t length() {
    constexpr std::size_t most = std::size_t{1} << 28;
    const auto count = number<std::size_t>();
    if (count > most) in_.setstate(std::ios::failbit);
    return in_ ? count : 0;
  }
  bool is_good() const { return static_cast<bool>(in_); }

 private:
  std::istringstream in_;
};

template <class T>
std::string listed(const std::vector<T>& list) {
  std::string text = fmt::format("{} ", list.size());
  for (const auto each : list) text += fmt::format("{} ", static_cast<long long>(each));
  return text;
}

std::string counted(const std::string& text) { return fmt::format("{} {}", text.size(), text); }

}  // namespace

bool may_keep_work(const ExtraRuleList& extra) {
  return extra.empty() && !build_id().empty() && debug_level() < 3 && setting("DUMP").empty() &&
         setting_int("SPEC") == 0 && setting_int("VALIDATE") == 0;
}

std::optional<Rendered> known_rendered(const std::string& key) {
  const auto found = disk_cache().find(key_for("a kernel", key));
  if (!found) return std::nullopt;
  Reader in(*found);
  Rendered rendered;
  rendered.variables = in.numbers<std::size_t>();
  rendered.is_read = in.numbers<bool>();
  const std::size_t count = in.length();
  for (std::size_t i = 0; i < count && in.is_good(); ++i) {
    Kept kept;
    kept.constant = in.number<std::size_t>();
    kept.argument = in.number<std::size_t>();
    kept.bytes = in.number<std::size_t>();
    kept.name = in.text();
    kept.source = in.text();
    rendered.kept.push_back(std::move(kept));
  }
  rendered.source = in.text();
  if (!in.is_good()) return std::nullopt;
  return rendered;
}

void keep_rendered(const std::string& key, const Rendered& rendered) {
  std::string text = listed(rendered.variables) + listed(rendered.is_read);
  text += fmt::format("{} ", rendered.kept.size());
  for (const Kept& kept : rendered.kept)
    text += fmt::format("{} {} {} {} {} ", kept.constant, kept.argument, kept.bytes,
                        counted(kept.name), counted(kept.source));
  disk_cache().keep(key_for("a kernel", key), text + counted(rendered.source));
}

std::optional<Choices> known_choices(const std::string& key) {
  const auto found = disk_cache().find(key_for("a plan", key));
  if (!found) return std::nullopt;
  Reader in(*found);
  Choices choices;
  choices.apart = in.numbers<int>();
  choices.last = in.numbers<int>();
  choices.forms = in.numbers<int>();
  choices.nanoseconds = in.numbers<std::int64_t>();
  choices.nanoseconds_as_made = in.numbers<std::int64_t>();
  if (!in.is_good()) return std::nullopt;
  return choices;
}

void keep_choices(const std::string& key, const Choices& choices) {
  disk_cache().keep(key_for("a plan", key),
                    listed(choices.apart) + listed(choices.last) + listed(choices.forms) +
                        listed(choices.nanoseconds) + listed(choices.nanoseconds_as_made));
}

}  // namespace weft
