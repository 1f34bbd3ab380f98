#include "measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/settings.h>

#include "../support/ulp.h"

namespace weft::accuracy {
namespace {

struct Format {
  int precision, least,
      top;  // least: the exponent of the last place of subnormals; top: 2^top is too large
};

Format format_of(DType dtype) {
  switch (dtype.kind()) {
    case Kind::F16: return {11, -24, 16};
    case Kind::BF16: return {8, -133, 128};
    case Kind::F32: return {24, -149, 128};
    default: return {53, -1074, 1024};
  }
}

// In units in the last place of what is as large as `size`. Infinity stands for the number after the largest one.
double error_of(double got, long double exact, long double size, const Format& format) {
  if (std::isinf(got)) {
    const long double most = std::ldexp(1.0L, format.top);
    if (std::abs(exact) >= most && std::signbit(exact) == std::signbit(got)) return 0;
    got = 0, exact = std::copysign(most, got) - exact;  // where an f64 is no such number
  }
  const int place =
      size == 0 ? format.least : std::max(std::ilogb(size) - format.precision + 1, format.least);
  return static_cast<double>(std::ldexp(std::abs(got - exact), -place));
}

bool is_wrong(double got, long double exact, bool signs_zeros) {
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) != std::isnan(got);
  if (std::isinf(exact)) return got != static_cast<double>(exact);
  return signs_zeros && exact == 0 && got == 0 && std::signbit(exact) != std::signbit(got);
}

long double size_of(Unit unit, double x, double y, long double exact) {
  const auto size = std::abs(exact);
  switch (unit) {
    case Unit::One: return std::max(size, 1.0L);
    case Unit::Operand: return std::max(size, std::abs(static_cast<long double>(std::max(x, y))));
    default: return size;
  }
}

Tensor tensor_of(const std::vector<double>& values, std::size_t count, DType dtype) {
  const std::vector<double> part(values.begin(),
                                 values.begin() + static_cast<std::ptrdiff_t>(count));
  if (dtype == dtypes::f64) return Tensor(part);
  Tensor result = Tensor(std::vector<float>(part.begin(), part.end())).cast(dtype);
  result.realize();
  return result;
}

std::vector<double> computed(const Function& function, DType dtype, const Inputs& inputs,
                             std::size_t count) {
  const Tensor x = tensor_of(inputs.x, count, dtype);
  const Tensor y = function.operands == 2 ? tensor_of(inputs.y, count, dtype) : Tensor();
  Tensor result = function.compute(x, y);
  result.realize();
  if (dtype == dtypes::f64) return result.to_vector<double>();
  const std::vector<float> narrow = result.cast(dtypes::f32).to_vector<float>();
  return {narrow.begin(), narrow.end()};
}

}  // namespace

std::vector<long double> true_values(const Function& function, const Inputs& inputs) {
  Real x{64}, y{64}, exact{192};
  std::vector<long double> result;
  result.reserve(inputs.x.size());
  for (std::size_t i = 0; i < inputs.x.size(); ++i) {
    mpfr_set_d(x.get(), inputs.x[i], MPFR_RNDN);
    if (function.operands == 2) mpfr_set_d(y.get(), inputs.y[i], MPFR_RNDN);
    function.exact(exact.get(), x.get(), y.get());
    result.push_back(mpfr_get_ld(exact.get(), MPFR_RNDN));
  }
  return result;
}

std::vector<Device> devices() {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  std::vector<Device> wanted{
      {"LLVM", "CPU:LLVM", all}, {"CLANG", "CPU:CLANG", all}, {"INTERP", "INTERP", 1 << 16}};
#if defined(__x86_64__)
  wanted.insert(wanted.begin() + 1, {"v2", "CPU:LLVM:x86-64-v2", all});
  if (__builtin_cpu_supports("x86-64-v3"))
    wanted.insert(wanted.begin() + 2, {"v3", "CPU:LLVM:x86-64-v3", all});
  if (__builtin_cpu_supports("x86-64-v4"))
    wanted.insert(wanted.begin() + 3, {"v4", "CPU:LLVM:x86-64-v4", all});
  else
    fmt::print(stderr, "x86-64-v4 is left out: not a processor of that level\n");
#endif
  std::erase_if(wanted, [](const Device& device) {
    try {
      const Context context{{"DEV", std::string_view(device.dev)}};
      return (Tensor({1.0F}) + 1).to_vector<float>().front() != 2;
    } catch (const std::exception& error) {
      fmt::print(stderr, "{} is left out: {}\n", device.name, error.what());
      return true;
    }
  });
  return wanted;
}

Measured measure(const Function& function, DType dtype, const Device& device, const Inputs& inputs,
                 const std::vector<long double>& exact) {
  const Context context{{"DEV", std::string_view(device.dev)}};
  Measured result;
  result.count = std::min(inputs.x.size(), device.most);
  const std::vector<double> got = computed(function, dtype, inputs, result.count);
  const Format format = format_of(dtype);
  const long double small = std::ldexp(1.0L, format.least + format.precision + 7);
  for (std::size_t i = 0; i < result.count; ++i) {
    const double x = inputs.x[i], y = inputs.y.empty() ? x : inputs.y[i];
    if (is_wrong(got[i], exact[i], function.signs_zeros)) {
      if (result.wrong++ == 0) result.first_wrong = {0, x, y, got[i], exact[i]};
      continue;
    }
    if (!std::isfinite(exact[i])) continue;
    const double ulp = error_of(got[i], exact[i], std::abs(exact[i]), format);
    if (ulp > result.ulp.error) result.ulp = {ulp, x, y, got[i], exact[i]};
    if (function.unit == Unit::Normal &&
        std::max<long double>(std::abs(exact[i]), std::abs(got[i])) < small)
      continue;
    const double unit = error_of(got[i], exact[i], size_of(function.unit, x, y, exact[i]), format);
    if (unit > result.unit.error) result.unit = {unit, x, y, got[i], exact[i]};
  }
  return result;
}

}  // namespace weft::accuracy
