// Regular expressions in RE2's syntax, matched in time that is linear in the text: what a model's file asks for
// may not run for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::onnx {

class Regex {
 public:
  // Throws where the pattern is none, or has what is not known here: classes by \p.
  explicit Regex(std::string_view pattern);

  bool matches(std::string_view text) const;  // from its beginning to its end

  enum class Kind : std::uint8_t { Set, Split, Jump, Assert, Match };
  enum class Where : std::uint8_t { TextBegin, TextEnd, LineBegin, LineEnd, Word, NotWord };
  struct Set {
    std::vector<std::pair<char32_t, char32_t>> ranges;
    bool is_negated = false, ignores_case = false;
    bool has(char32_t point) const;
  };
  // What a state asks for, and where it goes on: a split to both places.
  struct State {
    Kind kind;
    std::size_t next = 0, other = 0;
    std::size_t set = 0;
    Where where = Where::TextBegin;
  };

 private:
  void reach(std::size_t state, std::size_t place, std::u32string_view text,
             std::vector<std::size_t>& seen, std::vector<std::size_t>& reached) const;

  std::vector<State> states_;
  std::vector<Set> sets_;
};

}  // namespace weft::onnx
