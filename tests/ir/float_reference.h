// The float formats below f32, worked out the slow way: a table of every finite value, and rounding
// by searching it. Shares nothing with the library but the dtypes.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

#include <weft/dtype.h>

namespace weft::reference {

class SmallFloat {
 public:
  SmallFloat(DType dtype, int mantissa_bits, int bias, int codes, bool has_inf)
      : dtype(dtype), sign(dtype.bits() == 8 ? 0x80 : 0x8000), has_inf(has_inf) {
    for (int code = 0; code < codes; ++code) {
      const int field = code >> mantissa_bits, one = 1 << mantissa_bits, rest = code % one;
      const int exponent = std::max(field, 1) - bias - mantissa_bits;
      values.push_back(std::ldexp(field == 0 ? rest : one + rest, exponent));
    }
    const double step = values.back() - values[values.size() - 2];
    past_end = values.back() + step;
  }

  std::uint64_t codes() const { return 2 * sign; }
  std::uint64_t largest() const { return values.size() - 1; }
  std::uint64_t beyond() const { return values.size(); }  // infinity, or the NaN of f8e4m3
  bool is_nan(std::uint64_t code) const { return (code & ~sign) >= values.size() + has_inf; }

  double decode(std::uint64_t code) const {
    const std::uint64_t magnitude = code & ~sign;
    double value = std::numeric_limits<double>::quiet_NaN();
    if (!is_nan(code))
      value =
          magnitude < values.size() ? values[magnitude] : std::numeric_limits<double>::infinity();
    return std::copysign(value, (code & sign) != 0 ? -1.0 : 1.0);
  }

  // The code of the value nearest to a magnitude, ties to the even code; `compare(x)` says how the
  // magnitude, which may be no double, compares with x. beyond() for what rounds to past_end.
  template <class Compare>
  std::uint64_t nearest(Compare compare) const {
    const auto above = std::partition_point(values.begin(), values.end(),
                                            [&](double value) { return compare(value) >= 0; });
    const auto upper = static_cast<std::uint64_t>(above - values.begin()), lower = upper - 1;
    const double next = upper < values.size() ? values[upper] : past_end;
    const std::partial_ordering half = compare((values[lower] + next) / 2);
    return half > 0 || (half == 0 && lower % 2 == 1) ? upper : lower;
  }

  std::uint64_t encode(double value) const {
    const double magnitude = std::fabs(value);
    const auto code = nearest([&](double x) { return magnitude <=> x; });
    return code | (std::signbit(value) ? sign : 0);
  }

  DType dtype;
  std::uint64_t sign;
  bool has_inf;
  std::vector<double> values;  // by code, from 0 to the largest
  double past_end;             // what the next code would be worth if it were finite
};

inline const std::vector<SmallFloat>& small_floats() {
  static const std::vector<SmallFloat> all = {
      {dtypes::f8e4m3, 3, 7, 0x7f, false},
      {dtypes::f8e5m2, 2, 15, 0x7c, true},
      {dtypes::f16, 10, 15, 0x7c00, true},
      {dtypes::bf16, 7, 127, 0x7f80, true},
  };
  return all;
}

inline const SmallFloat& small_float(DType dtype) {
  return *std::ranges::find(small_floats(), dtype, &SmallFloat::dtype);
}

}  // namespace weft::reference
