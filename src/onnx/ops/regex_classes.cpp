// Sets of characters in regular expressions: [a-z], [[:alpha:]], \d.
#include <array>
#include <utility>

#include "regex_parser.h"

namespace weft::onnx {
namespace {

using Ranges = std::vector<std::pair<char32_t, char32_t>>;

const Ranges digits = {{U'0', U'9'}}, blanks = {{U'\t', U'\n'}, {U'\f', U'\r'}, {U' ', U' '}},
             words = {{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}};

struct Named {
  std::u32string_view name;
  Ranges ranges;
};
const std::array<Named, 14> named_classes = {{
    {U"alnum", {{U'0', U'9'}, {U'A', U'Z'}, {U'a', U'z'}}},
    {U"alpha", {{U'A', U'Z'}, {U'a', U'z'}}},
    {U"ascii", {{0, 0x7f}}},
    {U"blank", {{U'\t', U'\t'}, {U' ', U' '}}},
    {U"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
    {U"digit", digits},
    {U"graph", {{U'!', U'~'}}},
    {U"lower", {{U'a', U'z'}}},
    {U"print", {{U' ', U'~'}}},
    {U"punct", {{U'!', U'/'}, {U':', U'@'}, {U'[', U'`'}, {U'{', U'~'}}},
    {U"space", {{U'\t', U'\r'}, {U' ', U' '}}},
    {U"upper", {{U'A', U'Z'}}},
    {U"word", words},
    {U"xdigit", {{U'0', U'9'}, {U'A', U'F'}, {U'a', U'f'}}},
}};

// What is not in these, which are in order.
Ranges outside_of(const Ranges& ranges, char32_t last_point) {
  Ranges others;
  char32_t from = 0;
  for (const auto& [first, last] : ranges) {
    if (first > from) others.emplace_back(from, first - 1);
    from = last + 1;
  }
  if (from <= last_point) others.emplace_back(from, last_point);
  return others;
}

}  // namespace

bool RegexParser::class_of(char32_t letter, Regex::Set& set) {
  const char32_t small = letter | 0x20;
  if (small != U'd' && small != U'w' && small != U's') return false;
  const Ranges& ranges = small == U'd' ? digits : small == U'w' ? words : blanks;
  const Ranges& added = letter == small ? ranges : outside_of(ranges, last_point);
  set.ranges.insert(set.ranges.end(), added.begin(), added.end());
  return true;
}

Regex::Set RegexParser::bracket() {
  Regex::Set set;
  set.is_negated = take(U"^");
  for (bool is_first = true; is_first || !take(U"]"); is_first = false) {
    if (named_class(set)) continue;
    const auto point = [&] {
      const char32_t one = next();
      return one == U'\\' ? escaped_point(next()) : one;
    };
    if (!at_end() && pattern_[at_] == U'\\' && at_ + 1 < pattern_.size() &&
        class_of(pattern_[at_ + 1], set)) {
      at_ += 2;
      continue;
    }
    const char32_t first = point();
    char32_t last = first;
    if (at_ + 1 < pattern_.size() && pattern_[at_] == U'-' && pattern_[at_ + 1] != U']') {
      ++at_;
      last = point();
    }
    if (last < first) refuse("a range goes backwards");
    set.ranges.emplace_back(first, last);
  }
  return set;
}

// [:alpha:] within brackets.
bool RegexParser::named_class(Regex::Set& set) {
  if (!take(U"[:")) return false;
  const bool is_negated = take(U"^");
  for (const Named& each : named_classes)
    if (take(std::u32string(each.name) + U":]")) {
      const Ranges added = is_negated ? outside_of(each.ranges, last_point) : each.ranges;
      set.ranges.insert(set.ranges.end(), added.begin(), added.end());
      return true;
    }
  refuse("an unknown class");
}

}  // namespace weft::onnx
