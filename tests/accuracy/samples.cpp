#include "samples.h"

#include <cmath>
#include <limits>
#include <numbers>

#include <weft/dev/ir/value.h>

namespace weft::accuracy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Splitmix64 of a counter.
class Hash {
 public:
  explicit Hash(std::uint64_t seed) : state_(seed * 0x632be59bd9b4e019) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double unit() { return std::ldexp(static_cast<double>(bits() >> 11), -53); }  // from 0 to below 1
  double between(double a, double b) { return a + (b - a) * unit(); }
  double sign() { return bits() % 2 == 0 ? 1 : -1; }
  // Of either sign, with exponents from a to b.
  double scaled(double a, double b) { return sign() * std::exp2(between(a, b)); }

 private:
  std::uint64_t state_;
};

class Sample {
 public:
  Sample(const Function& function, DType dtype, std::uint64_t seed)
      : function_(function), dtype_(dtype), hash_(seed) {}

  double rounded(double x) const { return double_from_bits(bits_from_double(x, dtype_), dtype_); }
  double pattern(Bits bits) const {
    return double_from_bits(dtype_.bits() == 64 ? bits : bits & ((Bits{1} << dtype_.bits()) - 1),
                            dtype_);
  }

  std::vector<double> specials(int around) const {
    std::vector<double> result{0.0, -0.0, infinity, -infinity,
                               std::numeric_limits<double>::quiet_NaN()};
    for (const double point : points())
      for (const double x : {point, -point}) neighbourhood(result, rounded(x), around);
    for (Bits i = 0; i < 2; ++i)  // the largest numbers and the least ones
      for (int k = 1; k <= around; ++k) {
        const Bits sign = i << (dtype_.bits() - 1), top = bits_from_double(infinity, dtype_);
        result.push_back(pattern(sign | static_cast<Bits>(k)));
        result.push_back(pattern(sign | (top - static_cast<Bits>(k))));
      }
    return result;
  }

  // Half of all patterns, a quarter of the range evenly, an eighth by exponents, an eighth near the points.
  double any(std::size_t i) {
    const Interval range = this->range();
    switch (i % 8) {
      case 0:
      case 1: return rounded(hash_.between(range.from, range.to));
      case 2:
        return rounded(
            hash_.scaled(-70, std::log2(std::max(std::abs(range.from), std::abs(range.to)))));
      case 3: {
        const std::vector<double>& near = function_.points;
        const double point = near.empty() ? hash_.sign() : near[hash_.bits() % near.size()];
        return rounded(point * (1 + hash_.scaled(-dtype_.bits(), 0)));
      }
      default: return pattern(hash_.bits());
    }
  }

  // Pairs: independent, close to each other, of moderate size, whole numbers, and near 1 with a large one.
  void pair(std::size_t i, double& x, double& y) {
    x = any(hash_.bits());
    switch (i % 6) {
      case 0: y = any(hash_.bits()); break;
      case 1: y = rounded(x * (1 + hash_.scaled(-dtype_.bits(), 1))); break;
      case 2: x = rounded(hash_.scaled(-8, 8)), y = rounded(hash_.scaled(-8, 8)); break;
      case 3:
        x = rounded(std::round(hash_.scaled(0, 12))), y = rounded(std::round(hash_.scaled(0, 6)));
        break;
      case 4: {
        const double e = hash_.between(1, dtype_.bits());
        x = rounded(1 + hash_.scaled(-e, -e)), y = rounded(hash_.scaled(e - 4, e + 9));
        if (i % 12 < 6) std::swap(x, y);
        break;
      }
      default: x = rounded(hash_.scaled(-20, 20)), y = rounded(hash_.between(-10, 10));
    }
  }

 private:
  // f32 has a seventh of the exponents.
  Interval range() const {
    const bool is_wide = dtype_ == dtypes::f64 || std::abs(function_.range.from) < 500;
    return is_wide ? function_.range : Interval{function_.range.from / 7, function_.range.to / 7};
  }

  void neighbourhood(std::vector<double>& result, double x, int around) const {
    result.push_back(x);
    const Bits bits = bits_from_double(x, dtype_);
    for (int k = 1; k <= around; ++k) {
      result.push_back(pattern(bits + static_cast<Bits>(k)));
      if (x != 0) result.push_back(pattern(bits - static_cast<Bits>(k)));
    }
  }

  std::vector<double> points() const {
    const bool is_wide = dtype_ == dtypes::f64;
    std::vector<double> result = function_.points;
    const Interval range = this->range();
    result.insert(result.end(),
                  {range.from, range.to, std::numbers::sqrt2 / 2, is_wide ? 0x1p-1022 : 0x1p-126});
    for (int i = 1; i <= 40; ++i) {
      result.push_back(i), result.push_back(i - 0.5);
      result.push_back(i * std::numbers::pi / 2),
          result.push_back(std::ldexp(std::numbers::pi / 2, i));
    }
    for (int e = is_wide ? -1074 : -149; e < (is_wide ? 1024 : 128); e += std::abs(e) < 64 ? 1 : 16)
      result.push_back(std::ldexp(1, e));
    for (const double most :
         {127.0, 128.0, 149.0, 1023.0, 1024.0, 1074.0})  // where powers of 2 and e end
      for (const double x :
           {most, most + 1, (most + 1) * std::numbers::ln2, most * std::numbers::ln2})
        result.push_back(x);
    return result;
  }

  const Function& function_;
  DType dtype_;
  Hash hash_;
};

}  // namespace

Inputs inputs_for(const Function& function, DType dtype, std::size_t count, std::uint64_t seed,
                  std::uint64_t parts) {
  Sample sample(function, dtype, seed);
  Inputs result;
  if (function.operands == 1) {
    if (dtype.bits() == 16) {
      for (Bits bits = seed % parts; bits < 0x10000; bits += parts)
        result.x.push_back(sample.pattern(bits));
      return result;
    }
    result.x = sample.specials(parts == 1 ? 8 : 2);
    for (std::size_t i = 0; i < count; ++i) result.x.push_back(sample.any(i));
    return result;
  }
  std::vector<double> ends{0.0, 1.0,  2.0,   3.0,      0.5,
                           1.5, 1e30, 1e-30, infinity, std::numeric_limits<double>::quiet_NaN()};
  for (const double x : ends)
    for (const double y : ends)
      for (const double s : {1.0, -1.0})
        for (const double t : {1.0, -1.0})
          result.x.push_back(sample.rounded(s * x)), result.y.push_back(sample.rounded(t * y));
  for (std::size_t i = 0; i < count; ++i) {
    double x = 0, y = 0;
    sample.pair(i, x, y);
    result.x.push_back(x), result.y.push_back(y);
  }
  return result;
}

}  // namespace weft::accuracy
