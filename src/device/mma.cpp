#include <weft/dev/device/mma.h>

#include <algorithm>
#include <array>

namespace weft {

// Those of AMX: tiles of sixteen rows of 64 bytes. Those of AVX512, AVX and AVX2: a vector of sums, whose lanes add up two
// or four products each. AVX2 adds up products of i16, exactly: bytes are widened as they come, and what stands for a row
// is widened before, as that is as much work as a product. Products of bytes it adds up in pairs that are i16, which is
// exact where one factor has seven bits. Two such instructions in a cycle would be four operations with the additions: on
// Zen 3 1.6 are multiplied and added. Of 16 registers three are for factors and products.
std::span<const MmaShape> mma_shapes() {
  using namespace dtypes;
  // clang-format off
  static const std::array shapes{
      //       name           a     b     c    rows cols depth group feature       cycles registers
      MmaShape{"amx_bf16",     bf16, bf16, f32, 16, 16, 32, 2, "amx",        16, 8},
      MmaShape{"amx_f16",      f16,  f16,  f32, 16, 16, 32, 2, "amxfp16",    16, 8},
      MmaShape{"amx_i8i8",     i8,   i8,   i32, 16, 16, 64, 4, "amx",        16, 8},
      MmaShape{"amx_i8u8",     i8,   u8,   i32, 16, 16, 64, 4, "amx",        16, 8},
      MmaShape{"amx_u8i8",     u8,   i8,   i32, 16, 16, 64, 4, "amx",        16, 8},
      MmaShape{"amx_u8u8",     u8,   u8,   i32, 16, 16, 64, 4, "amx",        16, 8},
      MmaShape{"avx512_bf16",  bf16, bf16, f32, 1,  16, 2,  2, "avx512bf16", 1,  32},
      MmaShape{"avx512_i8u8",  i8,   u8,   i32, 1,  16, 4,  4, "avx512vnni", 1,  32},
      MmaShape{"avx512_u8i8",  u8,   i8,   i32, 1,  16, 4,  4, "avx512vnni", 1,  32},
      MmaShape{"avx_i8u8",     i8,   u8,   i32, 1,  8,  4,  4, "avxvnni",    0.5, 16},
      MmaShape{"avx_u8i8",     u8,   i8,   i32, 1,  8,  4,  4, "avxvnni",    0.5, 16},
      MmaShape{"avx2_i16i8",   i16,  i8,   i32, 1,  8,  2,  2, "avx2",       1.3, 13},
      MmaShape{"avx2_i16u8",   i16,  u8,   i32, 1,  8,  2,  2, "avx2",       1.3, 13},
      MmaShape{"avx2_i16i16",  i16,  i16,  i32, 1,  8,  2,  2, "avx2",       1.3, 13},
      MmaShape{"avx2_i8u7",    i8,   u8,   i32, 1,  8,  4,  4, "avx2",       2,   13, 127},
  };
  // clang-format on
  return shapes;
}

namespace {

std::int64_t most_that_divides(std::int64_t iterations, std::int64_t most, std::int64_t step) {
  for (std::int64_t part = most; part > 0; part -= step)
    if (iterations % part == 0) return part;
  return 0;
}

}  // namespace

bool MmaShape::widens(DType from) const {
  return rows == 1 && a.is_int() && from.is_int() && from.bytes() < a.bytes();
}

bool MmaShape::takes(DType first, DType second) const {
  return (first == a || widens(first)) && second == b && most == 0;
}

std::int64_t MmaShape::rows_for(std::int64_t iterations) const {
  return most_that_divides(iterations, rows, 1);
}

std::int64_t MmaShape::depth_for(std::int64_t iterations) const {
  return most_that_divides(iterations, depth, group);
}

const MmaShape* find_mma(std::string_view name) {
  const auto shapes = mma_shapes();
  const auto found = std::ranges::find(shapes, name, &MmaShape::name);
  return found == shapes.end() ? nullptr : &*found;
}

}  // namespace weft
