#include <weft/dev/device/mma.h>

#include <algorithm>
#include <array>

namespace weft {

// Those of AMX: tiles of sixteen rows of 64 bytes.
std::span<const MmaShape> mma_shapes() {
  static const std::array shapes{
      MmaShape{"amx_bf16", dtypes::bf16, dtypes::bf16, dtypes::f32, 16, 16, 32, 2},
      MmaShape{"amx_i8i8", dtypes::i8, dtypes::i8, dtypes::i32, 16, 16, 64, 4},
      MmaShape{"amx_i8u8", dtypes::i8, dtypes::u8, dtypes::i32, 16, 16, 64, 4},
      MmaShape{"amx_u8i8", dtypes::u8, dtypes::i8, dtypes::i32, 16, 16, 64, 4},
      MmaShape{"amx_u8u8", dtypes::u8, dtypes::u8, dtypes::i32, 16, 16, 64, 4},
  };
  return shapes;
}

const MmaShape* find_mma(std::string_view name) {
  const auto shapes = mma_shapes();
  const auto found = std::ranges::find(shapes, name, &MmaShape::name);
  return found == shapes.end() ? nullptr : &*found;
}

}  // namespace weft
