#include "compare.h"

#include <cmath>
#include <cstring>

#include <fmt/ranges.h>

namespace weft::golden {
namespace {

Numbers place(std::size_t i, const Numbers& shape) {
  Numbers index(shape.size());
  auto rest = static_cast<std::int64_t>(i);
  for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
    index[axis] = rest % shape[axis];
  return index;
}

bool is_near(double found, double expected, Tolerance tolerance) {
  if (std::isnan(expected) || std::isinf(expected) || !std::isfinite(found))
    return found == expected || (std::isnan(found) && std::isnan(expected));
  return std::abs(found - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

// `same` of every element found and the one expected.
template <class Number, class Same>
std::string first_difference(const Tensor& tensor, const Stored& stored,
                             Number (*expected_of)(Bits, DType), Same same) {
  const std::vector<Number> found = tensor.to_vector<Number>();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Number expected = expected_of(bits_at(stored, i), stored.dtype);
    if (!same(found[i], expected))
      return fmt::format("at {}: {} instead of {}", place(i, stored.shape), found[i], expected);
  }
  return {};
}

}  // namespace

Bits bits_at(const Stored& stored, std::size_t i) {
  Bits bits = 0;
  std::memcpy(&bits, stored.bytes.data() + i * stored.dtype.bytes(), stored.dtype.bytes());
  return canonical_bits(bits, stored.dtype);
}

Tolerance tolerance_of(DType dtype) {
  switch (dtype.kind()) {
    case Kind::F8E4M3:
    case Kind::F8E5M2: return {.relative = 0.13, .absolute = 0.01};
    case Kind::F16: return {.relative = 2e-3, .absolute = 1e-3};
    case Kind::BF16: return {.relative = 1.6e-2, .absolute = 1e-2};
    case Kind::F32: return {.relative = 1e-5, .absolute = 1e-6};
    case Kind::F64: return {.relative = 1e-9, .absolute = 1e-9};
    default: return {};
  }
}

std::string difference(const Tensor& found, const Stored& expected, Tolerance tolerance) {
  if (found.is_null()) return "it is null";
  if (found.dtype() != expected.dtype)
    return fmt::format("the dtype is {} instead of {}", found.dtype().str(), expected.dtype.str());
  if (found.shape() != expected.shape)
    return fmt::format("the shape is {} instead of {}", found.shape(), expected.shape);
  if (expected.dtype.is_float())
    return first_difference<double>(found, expected, double_from_bits,
                                    [&](double a, double b) { return is_near(a, b, tolerance); });
  return first_difference<std::int64_t>(
      found, expected, [](Bits bits, DType) { return static_cast<std::int64_t>(bits); },
      [](std::int64_t a, std::int64_t b) { return a == b; });
}

}  // namespace weft::golden
