// Any bytes as .npy, or as .npz where they begin as an archive does.
#include "as_file.h"

namespace weft {
namespace {

void run(std::string_view text) {
  const AsFile file(text);
  if (text.starts_with("PK"))
    touch_all(load_npz(file.path(), {.device = "INTERP"}));
  else
    touch(load_npy(file.path(), {.device = "INTERP"}));
}

}  // namespace
}  // namespace weft

WEFT_FUZZ(weft::run)
