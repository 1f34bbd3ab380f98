// Code points as bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

void append_utf8(std::string& to, char32_t point);

struct CodePoint {
  char32_t value;
  std::size_t bytes;  // that it takes
};
// The first of a text that is not empty. A byte that begins none is U+FFFD.
CodePoint first_code_point(std::string_view text);

}  // namespace weft
