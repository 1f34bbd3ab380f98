// Unique: the different elements, or parts along an axis. How many there are is computed.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <span>

#include "arguments.h"
#include "elements.h"
#include "tables.h"

namespace weft::onnx {
namespace {

// NaN is the largest, and equal to NaN.
template <class Number>
bool is_less(Number a, Number b) {
  if constexpr (std::is_floating_point_v<Number>)
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  return a < b;
}

// Of the rows of a matrix: where each different one comes first, which of these each row is, and how often it is
// there.
struct Found {
  std::vector<std::int64_t> first, inverse, counts;
};

template <class Number>
Found found_in(const std::vector<Number>& values, std::size_t rows, bool is_sorted) {
  const std::size_t width = rows == 0 ? 0 : values.size() / rows;
  const auto row = [&](std::size_t i) { return std::span(values).subspan(i * width, width); };
  const auto comes_before = [&](std::size_t i, std::size_t j) {
    return std::ranges::lexicographical_compare(row(i), row(j), is_less<Number>);
  };
  std::map<std::size_t, std::size_t, decltype(comes_before)> groups(comes_before);
  for (std::size_t i = 0; i < rows; ++i) groups.emplace(i, groups.size());
  // Numbered in the order they were met; sorted, in that of the map.
  if (std::size_t next = 0; is_sorted)
    for (auto& group : groups) group.second = next++;
  Found found{
      std::vector<std::int64_t>(groups.size()), {}, std::vector<std::int64_t>(groups.size())};
  for (const auto& [at, number] : groups) found.first[number] = static_cast<std::int64_t>(at);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t number = groups.at(i);
    found.inverse.push_back(static_cast<std::int64_t>(number));
    ++found.counts[number];
  }
  return found;
}

// The elements with those of each part along the axis in a row.
template <class Number>
std::vector<Number> in_rows(const std::vector<Number>& values,
                            const std::vector<std::int64_t>& shape, std::int64_t axis) {
  const auto product = [](auto first, auto last) {
    return std::accumulate(first, last, std::int64_t{1}, std::multiplies<>());
  };
  const std::int64_t before = product(shape.begin(), shape.begin() + axis);
  const std::int64_t rows = shape[static_cast<std::size_t>(axis)];
  const std::int64_t after = product(shape.begin() + axis + 1, shape.end());
  std::vector<Number> result;
  result.reserve(values.size());
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < before; ++i) {
      const auto first = values.begin() + (i * rows + row) * after;
      result.insert(result.end(), first, first + after);
    }
  return result;
}

Found found_along(const Call& call, const Tensor& x, std::int64_t axis) {
  const bool is_sorted = call.attr("sorted", 1) != 0;
  const std::vector<std::int64_t> shape = x.shape();
  const auto rows = static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]);
  if (x.dtype().is_float()) return found_in(in_rows(call.numbers(0), shape, axis), rows, is_sorted);
  const auto values = call.value(0).is_text() ? x.to_vector<std::int64_t>() : call.ints(0);
  return found_in(in_rows(values, shape, axis), rows, is_sorted);
}

Values unique(const Call& call) {
  const Elements elements(call, {0});
  const Tensor x = call.has("axis") ? elements[0] : elements[0].flatten();
  const std::int64_t axis = axis_of(call, call.attr("axis", 0), x.ndim());
  const Found found = found_along(call, x, axis);
  const auto line = [&](const std::vector<std::int64_t>& values) {
    return Value(Tensor(values, call.options(dtypes::i64)));
  };
  const Tensor first(found.first, call.options(dtypes::i64));
  return {elements.value(x.take(first, axis)), Value(first), line(found.inverse),
          line(found.counts)};
}

}  // namespace

OpTable unique_ops() {
  static const Op ops[] = {{"Unique", 11, unique}};
  return {"", ops};
}

}  // namespace weft::onnx
