// Any bytes as a batch of CIFAR-10: records or a pickle.
#include "as_file.h"

namespace weft {
namespace {

void run(std::string_view text) {
  const AsFile file(text);
  touch(load_cifar10_batch(file.path(), "INTERP").labels);
}

}  // namespace
}  // namespace weft

WEFT_FUZZ(weft::run)
