// The groups and their files.

#include "golden.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <weft/error.h>

namespace weft::golden {
namespace {

std::vector<const Group*>& registered() {
  static std::vector<const Group*> all;
  return all;
}

std::ifstream opened(std::string_view group, std::string_view ending) {
  const std::string path = fmt::format("{}/data/{}.{}", folder(), group, ending);
  std::ifstream file(path, std::ios::binary);
  if (!file) user_error(fmt::format("golden: cannot read {}", path));
  return file;
}

}  // namespace

std::string folder() { return WEFT_GOLDEN_DIR; }

bool is_in_turn(std::size_t number, std::size_t parts) {
  if (std::getenv("WEFT_FULL") != nullptr) return true;
  const char* turn = std::getenv("WEFT_TURN");
  return number % parts == (turn == nullptr ? 0 : std::strtoul(turn, nullptr, 10) % parts);
}

Group::Group(std::string_view group_name, const Methods& group_methods)
    : name(group_name), methods(group_methods) {
  registered().push_back(this);
}

const std::vector<const Group*>& groups() { return registered(); }

Data::Data(std::string_view group) {
  std::ifstream text = opened(group, "txt"), raw = opened(group, "bin");
  std::string line;
  for (int number = 1; std::getline(text, line); ++number)
    lines[line.substr(0, line.find(' '))].push_back({number, line});
  const std::string content(std::istreambuf_iterator<char>(raw), {});
  const auto all = std::as_bytes(std::span(content));
  bytes.assign(all.begin(), all.end());
}

}  // namespace weft::golden
