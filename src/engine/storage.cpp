#include <weft/dev/engine/storage.h>

#include <limits>

#include <fmt/core.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft {
namespace {

UOp buffer_node(DType dtype, const Sizes& sizes, const Device& device) {
  BufferArg arg;
  arg.id = fresh_id();
  arg.device = Symbol(std::string(device.name()));
  const InternerScope scope(shared_graph());
  return make(Op::Buffer, sizes, dtype, arg);
}

}  // namespace

std::size_t bytes_of(DType dtype, NodeList dims) {
  std::size_t bytes = dtype.bytes();
  bool fits = true;
  for (const Node* size : dims) {
    const Wide most = size->bounds().hi;
    if (most <= 0) return 0;
    fits = fits && most <= std::numeric_limits<std::int64_t>::max() &&
           !__builtin_mul_overflow(bytes, static_cast<std::size_t>(most), &bytes);
  }
  if (!fits || bytes > std::numeric_limits<std::ptrdiff_t>::max())
    user_error(fmt::format("a tensor of {} axes is larger than any memory", dims.size()));
  return bytes;
}

UOp new_buffer(DType dtype, const Sizes& sizes, Device& device) {
  const UOp node = buffer_node(dtype, sizes, device);
  shared_graph().attach(node.node(),
                        std::make_shared<Buffer>(device, bytes_of(dtype, node->dims())));
  return node;
}

UOp new_buffer(DType dtype, const Sizes& sizes, std::shared_ptr<Buffer> memory) {
  const UOp node = buffer_node(dtype, sizes, memory->device());
  if (memory->bytes() != bytes_of(dtype, node->dims()))
    internal_error(fmt::format("a BUFFER of {} bytes got memory of {}",
                               bytes_of(dtype, node->dims()), memory->bytes()));
  shared_graph().attach(node.node(), std::move(memory));
  return node;
}

std::shared_ptr<Buffer> memory_of(const Node* buffer) {
  if (buffer->op() != Op::Buffer) internal_error("only a BUFFER has memory");
  auto memory = shared_graph().attached<Buffer>(buffer);
  if (memory == nullptr)
    user_error(
        fmt::format("the values of a tensor of shape {} were assigned to before they were needed, "
                    "for a gradient perhaps: ask for what needs them first, or assign to a copy",
                    sizes_text(buffer->dims())));
  return memory;
}

void lose_memory(const Node* buffer) { shared_graph().attach(buffer, std::shared_ptr<Buffer>()); }

}  // namespace weft
