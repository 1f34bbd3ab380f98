// Any bytes as safetensors.
#include "as_file.h"

namespace weft {
namespace {

void run(std::string_view text) {
  const AsFile file(text);
  const StateDict state = load_safetensors(file.path(), "CPU");
  load_safetensors_metadata(file.path());
  touch_all(state);
}

}  // namespace
}  // namespace weft

WEFT_FUZZ(weft::run)
