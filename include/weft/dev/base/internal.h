// Which errors are weft's own.
#pragma once

#include <string_view>

namespace weft {

// Whether the message is one of internal_error(). Files may have its words in names, which others cite.
bool is_internal(std::string_view message);

}  // namespace weft
