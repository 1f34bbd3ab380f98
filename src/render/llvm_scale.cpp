#include "llvm_scale.h"

#include <algorithm>
#include <bit>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include "llvm_text.h"

namespace weft {
namespace {

constexpr std::uint32_t least = 4, most = 16;  // lanes of the instruction

class Scaling {
 public:
  explicit Scaling(const WriteLine& write) : write_(write) {}

  // The instruction takes exponents that are floats.
  std::string scaled(std::uint32_t lanes, const std::string& value, const std::string& power) {
    if (lanes == 1) return of_one(value, power);
    if (const std::uint32_t wide = std::max(least, std::bit_ceil(lanes)); wide != lanes)
      return some_of(wide,
                     scaled(wide, some_of(lanes, value, 0, wide), some_of(lanes, power, 0, wide)),
                     0, lanes);
    if (lanes > most) return of_many(lanes, value, power);
    const std::string type = llvm_type(dtypes::f32.vec(lanes));
    return write_(fmt::format(
        "call {0} @llvm.x86.avx512.mask.scalef.ps.{1}({0} {2}, {0} {3}, {0} {2}, i{4} -1{5})", type,
        32 * lanes, value, power, lanes == most ? 16 : 8, lanes == most ? ", i32 4" : ""));
  }

 private:
  std::string of_one(const std::string& value, const std::string& power) {
    const std::string type = llvm_type(dtypes::f32.vec(least));
    const auto first = [&](const std::string& lane) {
      return write_(fmt::format("insertelement {} poison, float {}, i32 0", type, lane));
    };
    return write_(fmt::format("extractelement {} {}, i32 0", type,
                              scaled(least, first(value), first(power))));
  }

  std::string of_many(std::uint32_t lanes, const std::string& value, const std::string& power) {
    const std::uint32_t half = lanes / 2;
    const auto of_half = [&](std::uint32_t from) {
      return scaled(half, some_of(lanes, value, from, half), some_of(lanes, power, from, half));
    };
    return shuffled(half, of_half(0), of_half(half), 0, lanes);
  }

  // So many lanes from this one on.
  std::string some_of(std::uint32_t lanes, const std::string& vector, std::uint32_t from,
                      std::uint32_t count) {
    return shuffled(lanes, vector, "poison", from, count);
  }

  std::string shuffled(std::uint32_t lanes, const std::string& a, const std::string& b,
                       std::uint32_t from, std::uint32_t count) {
    std::vector<std::string> places;
    for (std::uint32_t i = from; i < from + count; ++i) places.push_back(fmt::format("i32 {}", i));
    return write_(fmt::format("shufflevector {0} {1}, {0} {2}, <{3} x i32> <{4}>",
                              llvm_type(dtypes::f32.vec(lanes)), a, b, count,
                              fmt::join(places, ", ")));
  }

  const WriteLine& write_;
};

}  // namespace

std::string llvm_scaled(DType dtype, const std::string& value, const std::string& exponent,
                        const WriteLine& write) {
  if (dtype.kind() != Kind::F32)
    user_error(fmt::format("no processor scales {}: it has to be decomposed first", dtype.str()));
  const std::string power = write(fmt::format(
      "sitofp {} {} to {}", llvm_type(dtypes::i32.vec(dtype.lanes())), exponent, llvm_type(dtype)));
  return Scaling(write).scaled(dtype.lanes(), value, power);
}

}  // namespace weft
