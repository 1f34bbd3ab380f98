// Whether somebody looks, and what only they are shown.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace weft::cli {

bool is_terminal(std::FILE* stream);

enum class Color : char { Green = 32, Yellow = 33, Cyan = 36 };
// On a terminal, unless the environment has NO_COLOR, in colour.
std::string colored(std::string_view text, Color color, std::FILE* stream = stdout);

}  // namespace weft::cli
