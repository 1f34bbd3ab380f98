#include "library.h"

#include <algorithm>

namespace weft::exported {

std::int64_t Port::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::int64_t Library::threads() const {
  std::int64_t most = 1;
  for (const Function& function : functions) most = std::max(most, function.threads);
  return most;
}

std::size_t Library::most_places() const {
  std::size_t most = 0;
  for (const Call& call : calls) most = std::max(most, call.places.size());
  return most;
}

}  // namespace weft::exported
