#include "regex.h"

#include <algorithm>
#include <cwctype>

#include <weft/dev/io/utf8.h>

#include "regex_parser.h"

namespace weft::onnx {
namespace {

bool is_word(char32_t point) {
  return (point >= U'a' && point <= U'z') || (point >= U'A' && point <= U'Z') ||
         (point >= U'0' && point <= U'9') || point == U'_';
}

bool holds(Regex::Where where, std::size_t place, std::u32string_view text) {
  const bool at_begin = place == 0, at_end = place == text.size();
  const bool changes = (!at_begin && is_word(text[place - 1])) != (!at_end && is_word(text[place]));
  switch (where) {
    case Regex::Where::TextBegin: return at_begin;
    case Regex::Where::TextEnd: return at_end;
    case Regex::Where::LineBegin: return at_begin || text[place - 1] == U'\n';
    case Regex::Where::LineEnd: return at_end || text[place] == U'\n';
    case Regex::Where::Word: return changes;
    case Regex::Where::NotWord: return !changes;
  }
  return false;
}

}  // namespace

bool Regex::Set::has(char32_t point) const {
  const auto has_exactly = [&](char32_t each) {
    return std::ranges::any_of(
        ranges, [&](const auto& range) { return range.first <= each && each <= range.second; });
  };
  bool found = has_exactly(point);
  if (!found && ignores_case)
    found = has_exactly(static_cast<char32_t>(std::towlower(static_cast<std::wint_t>(point)))) ||
            has_exactly(static_cast<char32_t>(std::towupper(static_cast<std::wint_t>(point))));
  return found != is_negated;
}

Regex::Regex(std::string_view pattern) {
  RegexParser parser(pattern, states_, sets_);
  parser.parse();
}

// The states that wait for a character at this place, without taking any.
void Regex::reach(std::size_t state, std::size_t place, std::u32string_view text,
                  std::vector<std::size_t>& seen, std::vector<std::size_t>& reached) const {
  std::vector<std::size_t> open = {state};
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (seen[at] == place + 1) continue;
    seen[at] = place + 1;
    const State& one = states_[at];
    if (one.kind == Kind::Split) open.push_back(one.other);
    if (one.kind == Kind::Split || one.kind == Kind::Jump ||
        (one.kind == Kind::Assert && holds(one.where, place, text)))
      open.push_back(one.next);
    else if (one.kind != Kind::Assert)
      reached.push_back(at);
  }
}

bool Regex::matches(std::string_view text) const {
  std::u32string points;
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    points += first.value;
    text.remove_prefix(first.bytes);
  }
  // For each state, behind which place it was reached last.
  std::vector<std::size_t> seen(states_.size(), 0), now, next;
  reach(0, 0, points, seen, now);
  for (std::size_t place = 0; place < points.size() && !now.empty(); ++place) {
    next.clear();
    for (const std::size_t at : now)
      if (states_[at].kind == Kind::Set && sets_[states_[at].set].has(points[place]))
        reach(states_[at].next, place + 1, points, seen, next);
    now.swap(next);
  }
  return std::ranges::any_of(now, [&](std::size_t at) { return states_[at].kind == Kind::Match; });
}

}  // namespace weft::onnx
