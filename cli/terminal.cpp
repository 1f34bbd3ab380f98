#include "terminal.h"

#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

namespace weft::cli {

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

std::string colored(std::string_view text, Color color, std::FILE* stream) {
  const char* refused = std::getenv("NO_COLOR");
  if ((refused != nullptr && *refused != '\0') || !is_terminal(stream)) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(color), text);
}

}  // namespace weft::cli
