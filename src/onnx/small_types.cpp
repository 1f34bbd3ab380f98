// Elements of 2, 4 and 6 bits.

#include <bit>
#include <cmath>
#include <cstring>

#include "small_float.h"
#include "tensors.h"

namespace weft::onnx {
namespace {

bool is_signed(Type type) { return type == Type::I4 || type == Type::I2; }

// The code of the nearest number; of two the even one.
unsigned code_of(float value, const SmallFloat& format) {
  int best = 0;
  for (int code = 1; code < format.sign; ++code) {
    const float before = std::abs(std::abs(value) - real_of(best, format));
    const float now = std::abs(std::abs(value) - real_of(code, format));
    if (now < before || (now == before && code % 2 == 0)) best = code;
  }
  return static_cast<unsigned>(std::signbit(value) ? best | format.sign : best);
}

}  // namespace

std::vector<std::byte> unpacked(Type type, Bytes packed, std::size_t count) {
  const auto bits = static_cast<unsigned>(bits_of(type));
  const SmallFloat* format = small_float(type);
  std::vector<std::byte> held(count * dtype_of(type).bytes());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * bits / 8;
    unsigned window = std::to_integer<unsigned>(packed[at]);
    if (at + 1 < packed.size()) window |= std::to_integer<unsigned>(packed[at + 1]) << 8;
    const unsigned code = (window >> (i * bits % 8)) & ((1U << bits) - 1);
    if (format != nullptr) {
      const float value = real_of(static_cast<int>(code), *format);
      std::memcpy(held.data() + i * sizeof value, &value, sizeof value);
    } else {
      const bool is_negative = is_signed(type) && (code >> (bits - 1)) != 0;
      held[i] = static_cast<std::byte>(is_negative ? code | (0xFFU << bits) : code);
    }
  }
  return held;
}

std::vector<std::byte> packed(Type type, Bytes held) {
  const auto bits = static_cast<unsigned>(bits_of(type));
  const SmallFloat* format = small_float(type);
  const std::size_t count = held.size() / dtype_of(type).bytes();
  std::vector<std::byte> result((count * bits + 7) / 8);
  for (std::size_t i = 0; i < count; ++i) {
    unsigned code = 0;
    if (format != nullptr) {
      float value = 0;
      std::memcpy(&value, held.data() + i * sizeof value, sizeof value);
      code = code_of(value, *format);
    } else {
      code = std::to_integer<unsigned>(held[i]) & ((1U << bits) - 1);
    }
    const unsigned shifted = code << (i * bits % 8);
    const std::size_t at = i * bits / 8;
    result[at] |= static_cast<std::byte>(shifted & 0xFFU);
    if (shifted > 0xFFU) result[at + 1] |= static_cast<std::byte>(shifted >> 8);
  }
  return result;
}

}  // namespace weft::onnx
