// What looks at the bits of each element.

#include <fmt/format.h>
#include <weft/error.h>

#include "functions.h"

namespace weft {
namespace {

// Floats of one sign are in the order of their bits.
Tensor plain_nextafter(const Tensor& a, const Tensor& b) {
  const Tensor bits = a.bitcast(bits_of(a.dtype())), least = bits.full_like(1).bitcast(a.dtype());
  const Tensor moved = ((a < b) == (a > 0)).where(bits + 1, bits - 1).bitcast(a.dtype());
  const Tensor step = (a == 0).where((b < 0).where(-least, least), moved);
  return (a == b).where(b, (a.isnan() | b.isnan()).where(a + b, step));
}

}  // namespace

Tensor Tensor::bitwise_and(const Operand& other) const { return Called(), *this & other; }
Tensor Tensor::bitwise_or(const Operand& other) const { return Called(), *this | other; }
Tensor Tensor::bitwise_xor(const Operand& other) const { return Called(), *this ^ other; }
Tensor Tensor::lshift(const Operand& other) const { return Called(), *this << other; }
Tensor Tensor::rshift(const Operand& other) const { return Called(), *this >> other; }

// Sums of neighbouring bits, pairs and so on; of bytes, by the shifts that remain.
Tensor Tensor::popcount() const {
  const Called called;
  const DType own = dtype();
  if (own.is_float()) user_error(fmt::format("popcount: not for {}", own.str()));
  if (own.is_bool()) return cast(dtypes::i32);
  Tensor x = bitcast(unsigned_bits(own));
  const auto mask = [&](std::uint64_t bits) { return bits >> (64 - own.bits()); };
  x = x - ((x >> 1) & mask(0x5555555555555555));
  x = (x & mask(0x3333333333333333)) + ((x >> 2) & mask(0x3333333333333333));
  x = (x + (x >> 4)) & mask(0x0f0f0f0f0f0f0f0f);
  for (int shift = 8; shift < own.bits(); shift *= 2) x = x + (x >> shift);
  return (x & 0x7f).cast(dtypes::i32);
}

Tensor Tensor::signbit() const { return Called(), is_signed(*this); }

// At zeros the gradient is 0.
Tensor Tensor::copysign(const Operand& other) const {
  const Called called;
  const auto [a, b] = brought_together("copysign", *this, other, joint_float(*this, other));
  const Tensor x = (a == 0).where(a.detach(), a);
  return (is_signed(a) == is_signed(b)).where(x, -x);
}

Tensor Tensor::nextafter(const Operand& other) const {
  const Called called;
  return with_slopes(brought_together("nextafter", *this, other, joint_float(*this, other)),
                     plain_nextafter, [](const Tensor& a, const Tensor&, const Tensor&) {
                       return std::pair(a.ones_like(), a.zeros_like());
                     });
}

}  // namespace weft
