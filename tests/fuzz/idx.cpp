// Any bytes as a tensor in the format of MNIST, packed or not.
#include "as_file.h"

namespace weft {
namespace {

void run(std::string_view text) {
  const AsFile file(text);
  touch(load_idx(file.path(), "INTERP"));
}

}  // namespace
}  // namespace weft

WEFT_FUZZ(weft::run)
