// From the text of a regular expression to the states of Regex.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "regex.h"

namespace weft::onnx {

class RegexParser {
 public:
  RegexParser(std::string_view pattern, std::vector<Regex::State>& states,
              std::vector<Regex::Set>& sets);
  void parse();

 private:
  // (?ims) as they are within a group.
  struct Flags {
    bool ignores_case = false, many_lines = false, dot_is_all = false;
  };

  static constexpr char32_t last_point = 0x10ffff;

  [[noreturn]] void refuse(std::string_view why) const;
  bool at_end() const { return at_ == pattern_.size(); }
  bool take(std::u32string_view text);
  char32_t next();

  // Each appends states; whoever calls goes on behind the last of them.
  void alternatives();
  void sequence();
  void repeated(std::size_t from);  // what was added from there on
  void group();
  void flags();
  void item();
  void escape();
  void quoted();
  void repeat(std::size_t from, std::size_t least, std::size_t most);

  bool count(std::size_t& least, std::size_t& most);  // {2}, {2,}, {2,3}
  Regex::Set bracket();
  bool named_class(Regex::Set& set);
  static bool class_of(char32_t letter, Regex::Set& set);  // \d, \w, \s and those in capitals
  char32_t escaped_point(char32_t letter);
  char32_t hexadecimal();

  std::size_t add(const Regex::State& state);
  void add_set(Regex::Set set);
  void assert_that(Regex::Where where);

  std::u32string pattern_;
  std::string text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Flags flags_;
  std::vector<Regex::State>& states_;
  std::vector<Regex::Set>& sets_;
};

}  // namespace weft::onnx
