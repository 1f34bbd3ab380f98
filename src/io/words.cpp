// GPT-2's pattern: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+

#include <algorithm>
#include <span>

#include <weft/dev/io/utf8.h>
#include <weft/tokenizer.h>

#include "unicode_classes.h"

namespace weft {
namespace {

enum class Class { Letter, Number, Blank, Other };

bool is_in(std::span<const CodeRange> ranges, char32_t point) {
  const auto after = std::ranges::upper_bound(ranges, point, {}, &CodeRange::first);
  return after != ranges.begin() && point <= std::prev(after)->last;
}

Class class_of(char32_t point) {
  if (is_in(letter_ranges, point)) return Class::Letter;
  if (is_in(number_ranges, point)) return Class::Number;
  return is_in(blank_ranges, point) ? Class::Blank : Class::Other;
}

// How many bytes of the same class a text begins with, and those but the last code point.
struct Run {
  std::size_t bytes = 0, without_last = 0;
};
Run run_of(std::string_view text, Class of) {
  Run run;
  while (run.bytes < text.size()) {
    const CodePoint point = first_code_point(text.substr(run.bytes));
    if (class_of(point.value) != of) break;
    run.without_last = run.bytes;
    run.bytes += point.bytes;
  }
  return run;
}

std::size_t word_length(std::string_view text) {
  for (const std::string_view end : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(end)) return end.size();
  const std::size_t space = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  const Class first = class_of(first_code_point(text.substr(space)).value);
  if (first != Class::Blank) return space + run_of(text.substr(space), first).bytes;
  // The last of several blanks belongs to the word that follows.
  const Run blanks = run_of(text, Class::Blank);
  const bool is_last = blanks.bytes == text.size();
  return is_last || blanks.without_last == 0 ? blanks.bytes : blanks.without_last;
}

}  // namespace

std::vector<std::string_view> BytePairTokenizer::words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, word_length(text)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

}  // namespace weft
