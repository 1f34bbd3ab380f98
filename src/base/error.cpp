#include <weft/error.h>

namespace weft {

void user_error(const std::string& message) { throw Error(message); }

void internal_error(const std::string& message) { throw Error("internal error: " + message); }

}  // namespace weft
