// The tensor graph's BUFFERs and their memory, which hangs on the node and goes with it.
#pragma once

#include <memory>
#include <vector>

#include <weft/dev/device/buffer.h>
#include <weft/dev/ir/movement.h>

namespace weft {

// A new BUFFER in the shared graph. Its memory is allocated when it is first used.
UOp new_buffer(DType dtype, const Sizes& sizes, Device& device);
// One with memory that is there already, of the right number of bytes.
UOp new_buffer(DType dtype, const Sizes& sizes, std::shared_ptr<Buffer> memory);

// One of the same memory, which nobody writes any more.
UOp constant_buffer(const Node* buffer);

// One on the device of that name, or as a MULTI one on each of several: "CPU,CPU:1".
UOp new_memory(DType dtype, const Sizes& sizes, Symbol devices);

// These bytes, in each of its BUFFERs.
void fill_memory(const UOp& memory, std::span<const std::byte> bytes);

// The BUFFERs that a tensor looks at: several below a MULTI, none where it has to be computed.
std::vector<const Node*> buffers_of(const Node* view);

// Of a BUFFER, or all of those of a MULTI.
Symbol device_of(const Node* memory);

// The memory of a BUFFER that one of these made. Throws where it was lost.
std::shared_ptr<Buffer> memory_of(const Node* buffer);

// Bytes of that many elements; symbolic sizes at their largest. Throws where no memory can be so large.
std::size_t bytes_of(DType dtype, NodeList dims);

}  // namespace weft
