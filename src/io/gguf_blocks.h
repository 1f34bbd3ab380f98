// How GGUF packs numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include <weft/tensor.h>

namespace weft {

struct GgufType {
  std::uint32_t code;
  std::string_view name;
  std::int64_t elements, bytes;  // of a block
  DType dtype;                   // void: blocks are decoded
  // From u8 of shape (blocks, bytes) to f32 of shape (blocks, elements), as a graph: it becomes part of the kernel
  // that uses them.
  Tensor (*decode)(const Tensor& blocks);
};
const GgufType* find_gguf_type(std::uint32_t code);  // null where it is not known

}  // namespace weft
