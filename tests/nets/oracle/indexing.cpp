#include "indexing.h"

#include <algorithm>

#include "elementwise.h"
#include "reduce.h"

namespace nets {
namespace {

bool is_gathering(const Part& part) {
  return part.form == Part::Form::List || part.form == Part::Form::Array;
}

// Element numbers in place of elements, so that slicing them says where they are.
Array numbered(const Array& x) {
  Array result = fresh(Type::I64, x.shape);
  for (std::size_t i = 0; i < x.size(); ++i) result[i].whole = static_cast<std::int64_t>(i);
  return result;
}

Array index_of(const Part& part, const std::vector<Array>& operands) {
  if (part.form == Part::Form::Array) return operands.at(part.operand);
  Array result = fresh(Type::I64, {static_cast<std::int64_t>(part.list.size())});
  for (std::size_t i = 0; i < part.list.size(); ++i) result[i].whole = part.list[i];
  return result;
}

// The axes of the sliced array that arrays index, and whether they stand side by side.
struct Gathered {
  std::vector<std::size_t> axes;
  std::vector<Array> indices;
  bool are_apart = false;
};

Gathered gathered_axes(const Array& x, const std::vector<Part>& parts,
                       const std::vector<Array>& operands) {
  Gathered result;
  std::size_t axis = 0;
  const auto own = std::ranges::count_if(parts, [](const Part& part) {
    return part.form != Part::Form::NewAxis && part.form != Part::Form::Ellipsis;
  });
  for (const Part& part : parts) {
    if (part.form == Part::Form::Ellipsis) axis += at(x.rank() - own);
    if (part.form == Part::Form::NewAxis || part.form == Part::Form::Slice) ++axis;
    if (!is_gathering(part)) continue;
    result.are_apart |= !result.axes.empty() && result.axes.back() + 1 != axis;
    result.axes.push_back(axis++);
    const Array index = index_of(part, operands);
    want(is_int(index.type), "an index of another type");
    result.indices.push_back(index);
  }
  return result;
}

// Along the axis: negative ones count from the end.
std::optional<std::int64_t> place_of(const Cell& index, Type type, std::int64_t size) {
  const std::int64_t number =
      !is_unsigned(type) && index.whole < 0 ? index.whole + size : index.whole;
  if (number < 0 || number >= size) return {};
  return number;
}

}  // namespace

Selection selected(const Array& x, const std::vector<Part>& parts,
                   const std::vector<Array>& operands) {
  std::vector<Part> plain = parts;
  for (Part& part : plain)
    if (is_gathering(part)) part = {Part::Form::Slice, 0, {}, {}, 1, {}, 0};
  const Array base = sliced(numbered(x), plain);
  const auto [axes, indices, are_apart] = gathered_axes(x, parts, operands);
  Selection result;
  if (axes.empty()) {
    result.shape = base.shape;
    for (std::size_t i = 0; i < base.size(); ++i) result.elements.emplace_back(at(base[i].whole));
    return result;
  }
  Numbers together;
  for (const Array& index : indices) together = broadcast_shape(together, index.shape);
  std::vector<Array> all;
  for (const Array& index : indices) all.push_back(expanded(index, together));
  // The axes before, those of the indices, the axes after.
  const std::size_t before = are_apart ? 0 : axes.front();
  Numbers rest;
  std::vector<std::size_t> rest_axes;
  for (std::size_t axis = 0; axis < base.shape.size(); ++axis)
    if (std::ranges::find(axes, axis) == axes.end()) rest_axes.push_back(axis);
  for (std::size_t i = 0; i < before; ++i) result.shape.push_back(base.shape[rest_axes[i]]);
  result.shape.insert(result.shape.end(), together.begin(), together.end());
  for (std::size_t i = before; i < rest_axes.size(); ++i)
    result.shape.push_back(base.shape[rest_axes[i]]);
  for (std::size_t i = 0; i < at(count_of(result.shape)); ++i) {
    const Numbers place = coordinates_of(i, result.shape);
    Numbers from(base.shape.size());
    for (std::size_t k = 0; k < rest_axes.size(); ++k)
      from[rest_axes[k]] = place[k < before ? k : k + together.size()];
    const Numbers of_index(place.begin() + static_cast<std::ptrdiff_t>(before),
                           place.begin() + static_cast<std::ptrdiff_t>(before + together.size()));
    bool is_inside = true;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const Cell& cell = all[k][position(of_index, together)];
      if (cell.error > 0) result.is_certain = false;
      const auto number = place_of(cell, all[k].type, base.shape[axes[k]]);
      is_inside &= number.has_value();
      from[axes[k]] = number.value_or(0);
    }
    result.elements.push_back(is_inside ? std::optional(at(base[position(from, base.shape)].whole))
                                        : std::nullopt);
  }
  return result;
}

Array read(const Array& x, const Selection& selection) {
  Array result = fresh(x.type, selection.shape);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (selection.elements[i]) result[i] = x[*selection.elements[i]];
    if (!selection.is_certain) result[i].error = unknown;
  }
  return result;
}

// What is added up at one place comes in any order.
void write(const Array& x, const Selection& selection, const Array& value, std::string_view op) {
  const Array from = expanded(cast(value, x.type), selection.shape);
  const Array whole = copied(from);  // it may be a view of what is written
  if (!selection.is_certain) {
    for (std::size_t i = 0; i < x.size(); ++i) x.storage->at(x.places[i]).error = unknown;
    return;
  }
  std::vector<std::vector<Cell>> given(x.size());
  for (std::size_t i = 0; i < whole.size(); ++i)
    if (selection.elements[i]) given[*selection.elements[i]].push_back(whole[i]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    Cell& cell = (*x.storage)[x.places[i]];
    if (given[i].empty()) continue;
    if (op.empty()) {
      cell = given[i].back();
    } else if (op == "add") {
      given[i].push_back(cell);
      cell = sum_of(given[i], x.type);
      if (cell.error > 0 && is_float(x.type))  // each addition may be rounded to the type
        cell.error *= 2;
    } else {
      for (const Cell& other : given[i]) cell = combined(op, cell, other, x.type);
      if (op == "mul" && given[i].size() > 1 && is_float(x.type))
        cell = rounded_cell(cell.real, cell.error, x.type, static_cast<double>(given[i].size()));
    }
  }
}

namespace {

// The index's own places, and along one axis what it says.
Selection along(const Array& x, std::int64_t axis, const Array& index) {
  const std::size_t along_axis = at(axis_in(axis, x.rank()));
  want(is_int(index.type) && index.rank() == x.rank(), "an index of other axes");
  for (std::size_t a = 0; a < x.shape.size(); ++a)
    want(a == along_axis || index.shape[a] <= x.shape[a], "an index beyond the operand");
  Selection result{index.shape, {}, true};
  for (std::size_t i = 0; i < index.size(); ++i) {
    Numbers place = coordinates_of(i, index.shape);
    const Cell& cell = index[i];
    if (cell.error > 0) result.is_certain = false;
    const auto element = place_of(cell, index.type, x.shape[along_axis]);
    place[along_axis] = element.value_or(0);
    result.elements.push_back(element ? std::optional(position(place, x.shape)) : std::nullopt);
  }
  return result;
}

}  // namespace

Array gather(const Array& x, std::int64_t axis, const Array& index) {
  return read(x, along(x, axis, index));
}

Array scattered(const Array& x, std::int64_t axis, const Array& index, const Array& source,
                std::string_view op) {
  const Selection places = along(x, axis, index);
  Array part = source;
  if (source.rank() != 0) {
    want(source.rank() == index.rank(), "a source of other axes");
    Numbers bounds;
    for (const std::int64_t size : index.shape) bounds.insert(bounds.end(), {0, size});
    part = shrink(source, bounds);
  }
  const Array result = copied(x);
  write(result, places, part, op == "put" ? std::string_view() : op);
  return result;
}

Array take(const Array& x, const Array& index, std::int64_t axis) {
  const std::size_t along_axis = at(axis_in(axis, x.rank()));
  want(is_int(index.type), "an index of another type");
  Selection result;
  result.shape.assign(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(along_axis));
  result.shape.insert(result.shape.end(), index.shape.begin(), index.shape.end());
  result.shape.insert(result.shape.end(),
                      x.shape.begin() + static_cast<std::ptrdiff_t>(along_axis) + 1, x.shape.end());
  for (std::size_t i = 0; i < at(count_of(result.shape)); ++i) {
    const Numbers place = coordinates_of(i, result.shape);
    const auto first = place.begin() + static_cast<std::ptrdiff_t>(along_axis);
    const auto last = first + static_cast<std::ptrdiff_t>(index.shape.size());
    const Cell& cell = index[position(Numbers(first, last), index.shape)];
    if (cell.error > 0) result.is_certain = false;
    const auto element = place_of(cell, index.type, x.shape[along_axis]);
    Numbers from(place.begin(), first);
    from.push_back(element.value_or(0));
    from.insert(from.end(), last, place.end());
    result.elements.push_back(element ? std::optional(position(from, x.shape)) : std::nullopt);
  }
  return read(x, result);
}

void assign(const Array& x, const Array& value) {
  const Array from = copied(expanded(cast(value, x.type), x.shape));
  for (std::size_t i = 0; i < x.size(); ++i) (*x.storage)[x.places[i]] = from[i];
}

}  // namespace nets
