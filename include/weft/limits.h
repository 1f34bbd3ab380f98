// What a dtype can hold.
#pragma once

#include <cstdint>

#include <weft/dtype.h>

namespace weft {

struct FloatLimits {
  int bits;
  double min, max;  // finite
  double eps;       // from 1 to the next number
  double tiny;      // the least normal number above 0
  double smallest_subnormal;
};

struct IntLimits {
  int bits;
  std::int64_t min;
  std::uint64_t max;
};

FloatLimits finfo(DType dtype);  // of f8e4m3 to f64
IntLimits iinfo(DType dtype);    // of i8 to u64, and bool

}  // namespace weft
