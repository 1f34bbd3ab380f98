// JSON, read.
#pragma once

#include <string>
#include <string_view>

#include <weft/object.h>

#include <weft/dev/io/file.h>

namespace weft {

// Keys may come more than once: the reader of the dictionary has to say what that means.
Object parsed_json(std::string_view text, const InFile& in);
// The text as a string of JSON, with its quotes.
std::string quoted_json(std::string_view text);

}  // namespace weft
