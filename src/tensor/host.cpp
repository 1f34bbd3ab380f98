// The memory of tensors as the program's own: bytes in and out, and views in place.

#include <fmt/format.h>
#include <weft/dev/device/buffer.h>
#include <weft/dev/engine/storage.h>
#include <weft/error.h>

#include "ops.h"
#include "state.h"

namespace weft {

Tensor Tensor::from_bytes(std::span<const std::byte> bytes, const Shape& shape,
                          const Options& options) {
  const Called called;
  Tensor tensor = empty(shape, {.dtype = options.dtype, .device = options.device});
  if (tensor.nbytes() != bytes.size())
    user_error(fmt::format("from_bytes: {} bytes where {} of shape {} has {}", bytes.size(),
                           tensor.dtype().str(), shape_text(tensor.uop()), tensor.nbytes()));
  fill_memory(tensor.uop(), bytes);
  return as_asked(std::move(tensor), options);
}

void Tensor::to_bytes(std::span<std::byte> bytes) const {
  const Called called;
  if (nbytes() != bytes.size())
    user_error(fmt::format("to_bytes: room for {} bytes where {} of shape {} has {}", bytes.size(),
                           dtype().str(), shape_text(uop()), nbytes()));
  read(bytes.data(), dtype());
}

std::optional<Tensor::Memory> Tensor::memory() const {
  const Called called;
  if (are_several(device()) || !find_device(device()).allocator().uses_addresses()) return {};
  const Views views = views_of(in_memory());
  if (!views.is_one() || views.list[0].is_masked() || views.base->op() != Op::Buffer) return {};
  const Argument whole = memory_of(views.base.node())->argument();
  const auto offset = static_cast<std::size_t>(views.list[0].offset) * dtype().bytes();
  return Memory{static_cast<std::byte*>(whole.memory) + whole.offset + offset,
                views.list[0].strides};
}

// An assignment of the tensor to itself: it takes no kernel, and those that read the old values run first.
std::shared_ptr<const void> Tensor::open_for_writing(DType wanted, std::size_t axes) {
  if (dtype() != wanted || std::size_t(ndim()) != axes)
    user_error(fmt::format("host_view: of {} and {} axes, where the tensor is {} of shape {}",
                           wanted.str(), axes, dtype().str(), shape_text(uop())));
  if (state_->storage->is_tracked())
    user_error("host_view: gradients pass through this tensor: take one of a detached copy");
  state_->storage->own();
  assign(*this);
  if (!memory())
    user_error(
        fmt::format("host_view: a tensor on {} that lies in no memory of the program, or a "
                    "view that is padded: take one of contiguous()",
                    device()));
  return {nullptr, [storage = state_->storage](const void*) { storage->renew(); }};
}

}  // namespace weft
