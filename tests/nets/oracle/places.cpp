#include "places.h"

#include <algorithm>

#include "elementwise.h"
#include "movement.h"

namespace nets {
namespace {

Selection slices(const Array& x, std::int64_t axis, const Array& index) {
  want(index.rank() == 1, "an index of other axes");
  std::vector<Part> parts;
  for (std::int64_t i = 0; i < axis_in(axis, x.rank()); ++i)
    parts.push_back({.form = Part::Form::Slice, .list = {}});
  parts.push_back({.form = Part::Form::Array, .list = {}, .operand = 0});
  return selected(x, parts, {index});
}

}  // namespace

Array index_select(const Array& x, std::int64_t axis, const Array& index) {
  return read(x, slices(x, axis, index));
}

Array index_written(const Array& x, std::int64_t axis, const Array& index, const Array& value,
                    std::string_view op) {
  const Array result = copied(x);
  write(result, slices(x, axis, index), value, op);
  return result;
}

Array index_over(const Array& x, std::int64_t axis, const Array& index) {
  want(index.rank() == x.rank(), "an index of other axes");
  Numbers shape = x.shape;
  const std::size_t along = at(axis_in(axis, x.rank()));
  shape[along] = index.shape[along];
  return expanded(index, shape);
}

Array put(const Array& x, const Array& index, const Array& source, bool accumulate) {
  const Array flat = reshape(copied(x), {static_cast<std::int64_t>(x.size())});
  write(flat, selected(flat, {{.form = Part::Form::Array, .list = {}, .operand = 0}}, {index}),
        source, accumulate ? "add" : "");
  return reshape(flat, x.shape);
}

// What is beyond the source is 0.
Array masked_scatter(const Array& x, const Array& mask, const Array& source) {
  const Array where = expanded(mask, x.shape);
  Array result = copied(x);
  std::size_t next = 0;
  bool is_open = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    is_open |= where[i].error > 0;
    if (is_open) result[i].error = unknown;
    if (where[i].whole == 0 || is_open) continue;
    result[i] = is_float(x.type) ? Cell::of_real(0) : Cell::of(0);
    if (next < source.size()) result[i] = converted(source[next], source.type, x.type);
    ++next;
  }
  return result;
}

Array masked_select(const Array& x, const Array& mask, std::int64_t size, const Cell& fill) {
  const Numbers shape = broadcast_shape(x.shape, mask.shape);
  const Array where = expanded(mask, shape), from = expanded(x, shape);
  Array result = fresh(x.type, {size});
  std::ranges::fill(*result.storage, fill);
  std::size_t next = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::size_t k = 0; k < result.size() && where[i].error > 0; ++k) result[k].error = unknown;
    if (where[i].whole != 0 && next < result.size()) result[next++] = from[i];
  }
  return result;
}

Array expanded_behind(const Array& mask, const Numbers& shape) {
  Numbers own = mask.shape;
  want(own.size() <= shape.size() && std::equal(own.begin(), own.end(), shape.begin()),
       "a mask of other axes");
  own.resize(std::max(own.size(), shape.size()), 1);
  return expanded(reshape(mask, own), shape);
}

Array picked_by(const Array& x, const Array& mask) {
  const Array where = expanded_behind(mask, x.shape);
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < x.size(); ++i) {
    want(where[i].error == 0, "an open mask");
    if (where[i].whole != 0) cells.push_back(x[i]);
  }
  Numbers shape(x.shape.begin() + std::ssize(mask.shape), x.shape.end());
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < mask.size(); ++i) rows += mask[i].whole != 0;
  shape.insert(shape.begin(), rows);
  Array result = fresh(x.type, shape);
  *result.storage = cells;
  return result;
}

Array nonzero(const Array& x, std::int64_t size, std::int64_t fill) {
  const Array is_some = cast(x, Type::Bool);
  Array result = fresh(Type::I32, {size, x.rank()});
  for (std::size_t i = 0; i < result.size(); ++i) result[i].whole = fill;
  std::size_t row = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t k = 0; k < result.size() && is_some[i].error > 0; ++k)
      result[k].error = unknown;
    if (is_some[i].whole == 0 || row >= at(size)) continue;
    const Numbers place = coordinates_of(i, x.shape);
    for (std::size_t axis = 0; axis < place.size(); ++axis)
      result[row * place.size() + axis].whole = place[axis];
    ++row;
  }
  return result;
}

Array one_hot(const Array& x, std::int64_t classes) {
  want(is_int(x.type), "no classes");
  Numbers shape = x.shape;
  shape.push_back(classes);
  Array result = fresh(Type::I32, shape);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < at(classes); ++k)
      result[i * at(classes) + k] =
          Cell::of(x[i].whole == static_cast<std::int64_t>(k), x[i].error);
  return result;
}

namespace {

// How many values each element is given.
Array counts(const Array& x, std::int64_t axis, const Array& index) {
  return scattered(fresh(Type::I32, x.shape), axis, index, scalar(Type::I32, Cell::of(1)), "add");
}

}  // namespace

Array scattered_mean(const Array& x, std::int64_t axis, const Array& index, const Array& source) {
  const Array sum = scattered(x, axis, index, source, "add");
  const Array count = binary("add", counts(x, axis, index), scalar(Type::I32, Cell::of(1)));
  return binary("div", sum, cast(count, x.type));
}

Array scattered_only(const Array& x, std::int64_t axis, const Array& index, const Array& source,
                     std::string_view op) {
  const Array count = counts(x, axis, index), given = cast(count, Type::Bool);
  const double infinity = std::numeric_limits<double>::infinity();
  const Cell lowest = is_float(x.type) ? Cell::of_real(-infinity) : Cell::of(least_integer(x.type));
  const Cell zero = is_float(x.type) ? Cell::of_real(0) : Cell::of(0);
  const Array start = copied(expanded(scalar(x.type, op == "add" ? zero : lowest), x.shape));
  return where(given, scattered(start, axis, index, source, op), x);
}

}  // namespace nets
