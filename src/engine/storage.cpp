#include <weft/dev/engine/storage.h>

#include <limits>

#include <fmt/core.h>
#include <weft/dev/ir/text.h>
#include <weft/error.h>

namespace weft {
namespace {

UOp buffer_node(DType dtype, const Sizes& sizes, const Device& device,
                Space space = Space::Global) {
  BufferArg arg;
  arg.id = fresh_id();
  arg.space = space;
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

UOp constant_buffer(const Node* buffer) {
  std::shared_ptr<Buffer> memory = memory_of(buffer);
  memory->set_constant(true);
  const UOp node =
      buffer_node(buffer->dtype(), sizes_of(UOp(buffer)), memory->device(), Space::Constant);
  shared_graph().attach(node.node(), std::move(memory));
  return node;
}

UOp new_memory(DType dtype, const Sizes& sizes, Symbol devices) {
  const std::vector<Device*> found = find_devices(devices.get());
  std::vector<UOp> parts;
  for (Device* device : found) parts.push_back(new_buffer(dtype, sizes, *device));
  if (parts.size() == 1) return parts[0];
  return make(Op::Multi, parts, {}, ShardArg{-1, devices});
}

void fill_memory(const UOp& memory, std::span<const std::byte> bytes) {
  for (const Node* buffer : buffers_of(memory.node())) memory_of(buffer)->copy_in(bytes);
}

std::vector<const Node*> buffers_of(const Node* view) {
  while (info(view->op()).cls == OpClass::Movement || view->op() == Op::Detach) view = view->src(0);
  if (view->op() == Op::Buffer) return {view};
  if (view->op() != Op::Multi) return {};
  std::vector<const Node*> buffers;
  for (const Node* part : view->src()) {
    const std::vector<const Node*> own = buffers_of(part);
    if (own.empty()) return {};
    buffers.insert(buffers.end(), own.begin(), own.end());
  }
  return buffers;
}

Symbol device_of(const Node* memory) {
  return memory->op() == Op::Multi ? memory->arg<ShardArg>().devices
                                   : memory->arg<BufferArg>().device;
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

}  // namespace weft
