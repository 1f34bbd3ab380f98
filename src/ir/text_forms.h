// What the printer, the parser and expression_text() write and read alike.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <weft/dev/ir/node.h>

namespace weft {

constexpr bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

// Whether it stands for itself; other text needs quotes.
constexpr bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_name_char);
}

// The value of a CONST.
std::string const_text(const Node* node);

}  // namespace weft
