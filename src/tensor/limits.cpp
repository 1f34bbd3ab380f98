#include <weft/limits.h>

#include <cmath>

#include <fmt/format.h>
#include <weft/dev/ir/value.h>
#include <weft/error.h>

namespace weft {
FloatLimits finfo(DType dtype) {
  if (!dtype.is_float() || dtype.is_weak() || dtype.lanes() != 1)
    user_error(fmt::format("finfo: {} is no float: see iinfo for integers", dtype.str()));
  const auto number = [&](Bits bits) { return double_from_bits(bits, dtype); };
  // The highest bits are infinity, which f8e4m3 has not.
  const Bits top = highest_bits(dtype);
  const bool is_infinite = number(top) == number(top) * 2;
  const double most = number(is_infinite ? top - 1 : top);
  const double eps = number(bits_from_double(1, dtype) + 1) - 1;
  const Bits least_normal = Bits{1} << -std::ilogb(eps);
  return {dtype.bits(), -most, most, eps, number(least_normal), number(1)};
}

IntLimits iinfo(DType dtype) {
  const bool is_known = (dtype.is_int() && !dtype.is_index()) || dtype.is_bool();
  if (!is_known || dtype.lanes() != 1)
    user_error(fmt::format("iinfo: {} is no integer: see finfo for floats", dtype.str()));
  return {dtype.bits(), static_cast<std::int64_t>(lowest_bits(dtype)), highest_bits(dtype)};
}

}  // namespace weft
