// Any bytes as what torch.save wrote: archives and pickles.
#include "as_file.h"

namespace weft {
namespace {

void run(std::string_view text) {
  const AsFile file(text);
  touch_all(load_torch(file.path(), "CPU"));
}

}  // namespace
}  // namespace weft

WEFT_FUZZ(weft::run)
