#include "regex_parser.h"

#include <utility>

#include <fmt/format.h>
#include <weft/dev/io/utf8.h>
#include <weft/error.h>

namespace weft::onnx {
namespace {

using Kind = Regex::Kind;
using Where = Regex::Where;

constexpr std::size_t no_end = static_cast<std::size_t>(-1);
constexpr std::size_t most_states = 100'000, most_repeats = 1000;
constexpr int most_depth = 200;

int digit_of(char32_t point) {
  if (point >= U'0' && point <= U'9') return static_cast<int>(point - U'0');
  if (point >= U'a' && point <= U'f') return static_cast<int>(point - U'a') + 10;
  if (point >= U'A' && point <= U'F') return static_cast<int>(point - U'A') + 10;
  return 16;
}

}  // namespace

RegexParser::RegexParser(std::string_view pattern, std::vector<Regex::State>& states,
                         std::vector<Regex::Set>& sets)
    : text_(pattern), states_(states), sets_(sets) {
  while (!pattern.empty()) {
    const CodePoint first = first_code_point(pattern);
    pattern_ += first.value;
    pattern.remove_prefix(first.bytes);
  }
}

void RegexParser::parse() {
  add({.kind = Kind::Jump});  // so that nothing goes on at 0, which is to say: behind it
  alternatives();
  if (!at_end()) refuse("a bracket ) closes nothing");
  add({.kind = Kind::Match});
}

void RegexParser::refuse(std::string_view why) const {
  user_error(fmt::format("the pattern \"{}\": {}, at character {}", text_, why, at_));
}

bool RegexParser::take(std::u32string_view text) {
  if (std::u32string_view(pattern_).substr(at_, text.size()) != text) return false;
  at_ += text.size();
  return true;
}

char32_t RegexParser::next() {
  if (at_end()) refuse("it ends too early");
  return pattern_[at_++];
}

std::size_t RegexParser::add(const Regex::State& state) {
  if (states_.size() >= most_states) refuse("it takes too many states");
  states_.push_back(state);
  states_.back().next = state.next != 0 ? state.next : states_.size();
  return states_.size() - 1;
}

void RegexParser::add_set(Regex::Set set) {
  set.ignores_case = flags_.ignores_case;
  add({.kind = Kind::Set, .set = sets_.size()});
  sets_.push_back(std::move(set));
}

void RegexParser::assert_that(Where where) { add({.kind = Kind::Assert, .where = where}); }

// a|b|c: before each but the last stands a split to it and to what follows; behind it, a jump to the end.
void RegexParser::alternatives() {
  if (++depth_ > most_depth) refuse("its groups are nested too deeply");
  std::vector<std::size_t> jumps;
  std::size_t from = states_.size();
  sequence();
  while (take(U"|")) {
    const std::vector<Regex::State> branch(states_.begin() + static_cast<std::ptrdiff_t>(from),
                                           states_.end());
    states_.resize(from);
    add({.kind = Kind::Split});
    for (Regex::State state : branch) {
      ++state.next, ++state.other;
      add(state);
    }
    jumps.push_back(add({.kind = Kind::Jump}));
    states_[from].other = states_.size();
    from = states_.size();
    sequence();
  }
  for (const std::size_t jump : jumps) states_[jump].next = states_.size();
  --depth_;
}

void RegexParser::sequence() {
  while (!at_end() && pattern_[at_] != U'|' && pattern_[at_] != U')') {
    if (take(U"\\Q")) {
      quoted();
      continue;
    }
    const std::size_t from = states_.size();
    item();
    repeated(from);
  }
}

// All as it stands; what is behind it repeats the last character.
void RegexParser::quoted() {
  while (!at_end() && !take(U"\\E")) {
    const std::size_t from = states_.size();
    const char32_t point = next();
    add_set({.ranges = {{point, point}}});
    if (take(U"\\E")) return repeated(from);
  }
}

void RegexParser::repeated(std::size_t from) {
  for (;;) {
    std::size_t least = 0, most = 0;
    if (take(U"*"))
      repeat(from, 0, no_end);
    else if (take(U"+"))
      repeat(from, 1, no_end);
    else if (take(U"?"))
      repeat(from, 0, 1);
    else if (count(least, most))
      repeat(from, least, most);
    else
      return;
    take(U"?");  // as few as possible: the same texts match
  }
}

void RegexParser::repeat(std::size_t from, std::size_t least, std::size_t most) {
  const std::vector<Regex::State> once(states_.begin() + static_cast<std::ptrdiff_t>(from),
                                       states_.end());
  states_.resize(from);
  const auto copy = [&] {
    const std::size_t offset = states_.size() - from;
    for (Regex::State state : once) {
      state.next += offset, state.other += offset;
      add(state);
    }
  };
  for (std::size_t i = 0; i < least; ++i) copy();
  if (most == no_end) {
    const std::size_t split = add({.kind = Kind::Split});
    copy();
    const std::size_t jump = add({.kind = Kind::Jump});
    states_[jump].next = split;
    states_[split].other = states_.size();
    return;
  }
  std::vector<std::size_t> splits;
  for (std::size_t i = least; i < most; ++i) {
    splits.push_back(add({.kind = Kind::Split}));
    copy();
  }
  for (const std::size_t split : splits) states_[split].other = states_.size();
}

// Without a number after {, that is a character like others.
bool RegexParser::count(std::size_t& least, std::size_t& most) {
  const std::size_t before = at_;
  const auto number = [&](std::size_t& value) {
    const std::size_t begin = at_;
    value = 0;
    while (!at_end() && digit_of(pattern_[at_]) < 10 && value <= most_repeats)
      value = value * 10 + static_cast<std::size_t>(digit_of(pattern_[at_++]));
    return at_ > begin;
  };
  bool fits = take(U"{") && number(least);
  most = least;
  if (fits && take(U",") && !number(most)) most = no_end;
  fits = fits && take(U"}");
  if (!fits) at_ = before;
  if (fits && (least > most_repeats || (most != no_end && (most > most_repeats || most < least))))
    refuse(fmt::format("a count of repetitions is wrong, or above {}", most_repeats));
  return fits;
}

void RegexParser::group() {
  const Flags before = flags_;
  if (take(U"?")) {
    if (take(U"P<") || take(U"<")) {
      while (next() != U'>') {
      }
    } else {
      flags();
      if (take(U")")) return;  // they hold until the group around this ends
      if (!take(U":")) refuse("a group of an unknown kind");
    }
  }
  alternatives();
  if (!take(U")")) refuse("a bracket ( is not closed");
  flags_ = before;
}

void RegexParser::flags() {
  for (bool on = true; !at_end() && pattern_[at_] != U':' && pattern_[at_] != U')';) {
    const char32_t flag = next();
    if (flag == U'-')
      on = false;
    else if (flag == U'i')
      flags_.ignores_case = on;
    else if (flag == U'm')
      flags_.many_lines = on;
    else if (flag == U's')
      flags_.dot_is_all = on;
    else if (flag != U'U')
      refuse("an unknown flag");
  }
}

void RegexParser::item() {
  const char32_t point = next();
  switch (point) {
    case U'(': group(); break;
    case U'[': add_set(bracket()); break;
    case U'.':
      if (flags_.dot_is_all)
        add_set({.ranges = {{0, last_point}}});
      else
        add_set({.ranges = {{U'\n', U'\n'}}, .is_negated = true});
      break;
    case U'^': assert_that(flags_.many_lines ? Where::LineBegin : Where::TextBegin); break;
    case U'$': assert_that(flags_.many_lines ? Where::LineEnd : Where::TextEnd); break;
    case U'\\': escape(); break;
    case U'*':
    case U'+':
    case U'?': refuse("there is nothing to repeat");
    default: add_set({.ranges = {{point, point}}});
  }
}

void RegexParser::escape() {
  const char32_t letter = next();
  Regex::Set set;
  if (letter == U'A')
    assert_that(Where::TextBegin);
  else if (letter == U'z')
    assert_that(Where::TextEnd);
  else if (letter == U'b')
    assert_that(Where::Word);
  else if (letter == U'B')
    assert_that(Where::NotWord);
  else if (class_of(letter, set))
    add_set(std::move(set));
  else {
    const char32_t point = escaped_point(letter);
    add_set({.ranges = {{point, point}}});
  }
}

char32_t RegexParser::escaped_point(char32_t letter) {
  static constexpr std::pair<char32_t, char32_t> known[] = {
      {U'a', U'\a'}, {U'f', U'\f'}, {U'n', U'\n'}, {U'r', U'\r'}, {U't', U'\t'}, {U'v', U'\v'}};
  for (const auto& [name, point] : known)
    if (letter == name) return point;
  if (letter == U'x') return hexadecimal();
  if (letter >= U'0' && letter <= U'7') {
    char32_t value = letter - U'0';
    for (int i = 0; i < 2 && !at_end() && digit_of(pattern_[at_]) < 8; ++i)
      value = value * 8 + static_cast<char32_t>(digit_of(next()));
    return value;
  }
  if (letter < 0x80 && (digit_of(letter) < 10 || (letter | 0x20) - U'a' < 26))
    refuse(fmt::format("\\{} is unknown", static_cast<char>(letter)));
  return letter;
}

char32_t RegexParser::hexadecimal() {
  const bool is_long = take(U"{");
  char32_t value = 0;
  for (int i = 0; is_long ? !take(U"}") : i < 2; ++i) {
    const int digit = digit_of(next());
    value = value * 16 + static_cast<char32_t>(digit);
    if (digit > 15 || value > last_point) refuse("a hexadecimal number is wrong");
  }
  return value;
}

}  // namespace weft::onnx
