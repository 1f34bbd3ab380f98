#include "array.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace nets {

std::int64_t count_of(const Numbers& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

std::int64_t axis_in(std::int64_t axis, std::int64_t rank) {
  want(axis >= -rank && axis < rank, "an axis outside");
  return axis < 0 ? axis + rank : axis;
}

Array fresh(Type type, const Numbers& shape) {
  want(std::ranges::all_of(shape, [](std::int64_t size) { return size >= 0; }), "a negative size");
  Array result{type, shape, std::make_shared<Storage>(at(count_of(shape))), {}};
  if (is_float(type)) std::ranges::fill(*result.storage, Cell::of_real(0));
  result.places.resize(result.storage->size());
  std::iota(result.places.begin(), result.places.end(), std::size_t{0});
  return result;
}

Array copied(const Array& x) {
  Array result = fresh(x.type, x.shape);
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = x[i];
  return result;
}

Array scalar(Type type, const Cell& cell) {
  Array result = fresh(type, {});
  result[0] = cell;
  return result;
}

Cell rounded_cell(double value, double error, Type type, double halves) {
  const double result = rounded(value, type);
  if (error == 0 && halves == 0) return Cell::of_real(result);
  if (std::isnan(value) || !(error < unknown) || std::isinf(value) || std::isinf(result))
    return Cell::of_real(result, error == 0 ? 0 : unknown);
  const double size = std::abs(value) + error;
  // Below the least normal number the units are those of that one.
  const double least = std::ldexp(1.0, format_of(type).least_exponent);
  if (type == Type::F64) halves += 1;  // in which the value is rounded here
  const double total = error * 1.01 + (1 + halves) * half_ulp(type) * std::max(size, least) * 1.01;
  if (size + total >= largest_of(type)) return Cell::of_real(result, unknown);
  return Cell::of_real(value, total);  // rounded, it would be off once more
}

namespace {

Cell int_to_float(std::int64_t whole, double error, Type from, Type to) {
  if (error > 0) return Cell::of_real(0, unknown);
  if (to == Type::F64 || to == Type::F32) {
    const bool is_big = from == Type::U64;
    const auto natural = static_cast<std::uint64_t>(whole);
    if (to == Type::F64)
      return Cell::of_real(is_big ? static_cast<double>(natural) : static_cast<double>(whole));
    return Cell::of_real(is_big ? static_cast<float>(natural) : static_cast<float>(whole));
  }
  const double exact = from == Type::U64 ? static_cast<double>(static_cast<std::uint64_t>(whole))
                                         : static_cast<double>(whole);
  // Beyond 2^53 it would be rounded twice.
  const Cell result = Cell::of_real(rounded(exact, to));
  return std::abs(exact) < 0x1p53 ? result : Cell::of_real(result.real, unknown);
}

Cell float_to_int(const Cell& cell, Type to) {
  const std::int64_t whole = saturated(cell.real, to);
  if (cell.error == 0) return Cell::of(whole);
  if (cell.is_unknown() || std::isnan(cell.real)) return Cell::of(whole, unknown);
  const bool is_certain = is_bool(to) ? std::abs(cell.real) > cell.error
                                      : saturated(cell.real - cell.error, to) == whole &&
                                            saturated(cell.real + cell.error, to) == whole;
  return Cell::of(whole, is_certain ? 0 : unknown);
}

}  // namespace

Cell converted(const Cell& cell, Type from, Type to) {
  if (from == to) return cell;
  if (is_float(from)) {
    if (!is_float(to)) return float_to_int(cell, to);
    const bool is_wider = format_of(to).digits >= format_of(from).digits &&
                          format_of(to).most_exponent >= format_of(from).most_exponent;
    return is_wider ? cell : rounded_cell(cell.real, cell.error, to);
  }
  if (is_float(to)) return int_to_float(cell.whole, cell.error, from, to);
  return Cell::of(wrapped(cell.whole, to), cell.error);
}

Array cast(const Array& x, Type to) {
  Array result = fresh(to, x.shape);
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = converted(x[i], x.type, to);
  return result;
}

std::size_t position(const Numbers& coordinates, const Numbers& shape) {
  std::size_t result = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    result = result * at(shape[axis]) + at(coordinates[axis]);
  return result;
}

Numbers coordinates_of(std::size_t position, const Numbers& shape) {
  Numbers result(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; position /= at(shape[axis]))
    result[axis] = static_cast<std::int64_t>(position % at(shape[axis]));
  return result;
}

Numbers broadcast_shape(const Numbers& a, const Numbers& b) {
  Numbers result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t one = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t other = i < b.size() ? b[b.size() - 1 - i] : 1;
    want(one == other || one == 1 || other == 1, "shapes that do not broadcast");
    result[result.size() - 1 - i] = one == 1 ? other : one;
  }
  return result;
}

Array expanded(const Array& x, const Numbers& shape) {
  want(broadcast_shape(x.shape, shape) == shape, "an expansion to fewer elements");
  Array result{x.type, shape, x.storage, std::vector<std::size_t>(at(count_of(shape)))};
  const std::size_t more = shape.size() - x.shape.size();
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Numbers all = coordinates_of(i, shape);
    Numbers own(all.begin() + static_cast<std::ptrdiff_t>(more), all.end());
    for (std::size_t axis = 0; axis < own.size(); ++axis)
      if (x.shape[axis] == 1) own[axis] = 0;
    result.places[i] = x.places[position(own, x.shape)];
  }
  return result;
}

std::string text_of(const Cell& cell, Type type) {
  if (is_float(type)) return fmt::format("{}", cell.real);
  if (type == Type::U64) return fmt::format("{}", static_cast<std::uint64_t>(cell.whole));
  return fmt::format("{}", cell.whole);
}

}  // namespace nets
