#include "json.h"

#include <cmath>

#include <fmt/format.h>

namespace weft::cli {

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < ' ') {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string json_number(double number) {
  return std::isfinite(number) ? fmt::format("{}", number) : "null";
}

std::string json_list(const std::vector<std::string>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string json_object(const std::vector<std::pair<std::string_view, std::string>>& members) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : members)
    texts.push_back(fmt::format("{}: {}", json_text(name), value));
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

}  // namespace weft::cli
