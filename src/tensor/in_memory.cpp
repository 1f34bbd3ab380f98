#include <weft/dev/tensor/recorded.h>

#include <weft/dev/engine/realize.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/schedule/region.h>
#include <weft/error.h>

namespace weft {

Elements elements_in_memory(Tensor tensor) {
  for (int tries = 0; tries < 2; ++tries) {
    tensor.realize();
    const UOp graph = tensor.uop(), known = computed(graph.node());
    const UOp& where = known.is_null() ? graph : known;
    if (const auto region = region_of(where.node()))
      return {memory_of(region->buffer), region->offset, static_cast<std::size_t>(tensor.nbytes())};
    tensor = tensor.contiguous();
  }
  internal_error("elements that were put in order are not");
}

}  // namespace weft
