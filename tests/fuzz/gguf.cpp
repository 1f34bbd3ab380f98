// Any bytes as GGUF.
#include "as_file.h"

namespace weft {
namespace {

void run(std::string_view text) {
  const AsFile file(text);
  touch_all(load_gguf(file.path(), "INTERP").tensors);
}

}  // namespace
}  // namespace weft

WEFT_FUZZ(weft::run)
