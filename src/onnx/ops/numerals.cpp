// Strings as numbers, and numbers as strings.

#include "numerals.h"

#include <charconv>
#include <cmath>
#include <memory>

#include <fmt/format.h>

namespace weft::onnx {
namespace {

template <class Number>
std::string written(Number number) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number < 0 ? "-INF" : "INF";
    std::string digits(512, ' ');  // no f64 has more
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                   std::chars_format::fixed);
    digits.resize(static_cast<std::size_t>(end.ptr - digits.data()));
    return digits;
  } else {
    return fmt::format("{}", number);
  }
}

template <class Number>
Text all_written(const Tensor& numbers) {
  Text text{numbers.shape(), {}};
  for (const Number number : numbers.to_vector<Number>()) text.values.push_back(written(number));
  return text;
}

template <class Number>
std::optional<Number> read(std::string_view digits) {
  if (digits.starts_with('+')) digits.remove_prefix(1);
  Number number{};
  const char* const stop = std::to_address(digits.end());
  const auto [end, error] = std::from_chars(std::to_address(digits.begin()), stop, number);
  if (error != std::errc() || end != stop) return {};
  return number;
}

// Integers may be written as floats: their fractions are cut off.
template <class Number>
Tensor read(const Call& call, const Text& text, DType dtype) {
  std::vector<Number> numbers;
  for (const std::string& value : text.values) {
    std::optional<Number> number = read<Number>(value);
    if constexpr (!std::is_floating_point_v<Number>) {
      const std::optional<double> real = number ? std::nullopt : read<double>(value);
      if (real && std::abs(*real) < 0x1p63)
        number = static_cast<Number>(static_cast<std::int64_t>(*real));
    }
    if (!number) call.refuse(fmt::format("\"{}\" is no number for {}", value, dtype.str()));
    numbers.push_back(*number);
  }
  return Tensor(numbers, call.options()).reshape(text.shape);
}

}  // namespace

Text text_of(const Tensor& numbers) {
  const DType dtype = numbers.dtype();
  if (dtype == dtypes::f64) return all_written<double>(numbers);
  if (dtype.is_float()) return all_written<float>(numbers.cast(dtypes::f32));
  if (dtype == dtypes::u64) return all_written<std::uint64_t>(numbers);
  return all_written<std::int64_t>(numbers.cast(dtypes::i64));
}

Tensor numbers_in(const Call& call, const Text& text, DType dtype) {
  if (dtype == dtypes::u64) return read<std::uint64_t>(call, text, dtype);
  if (dtype.is_int()) return read<std::int64_t>(call, text, dtype);
  return read<double>(call, text, dtype);
}

}  // namespace weft::onnx
