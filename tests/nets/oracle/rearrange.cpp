#include "rearrange.h"

#include <algorithm>
#include <numeric>

#include "elementwise.h"
#include "movement.h"
#include "reduce.h"

namespace nets {

Array movedim(const Array& x, std::int64_t from, std::int64_t to) {
  Numbers order(x.shape.size());
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t moved = axis_in(from, x.rank());
  order.erase(order.begin() + moved);
  order.insert(order.begin() + axis_in(to, x.rank()), moved);
  return permute(x, order);
}

Array swapaxes(const Array& x, std::int64_t a, std::int64_t b) {
  Numbers order(x.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[at(axis_in(a, x.rank()))], order[at(axis_in(b, x.rank()))]);
  return permute(x, order);
}

Array flatten(const Array& x, std::int64_t first, std::int64_t last) {
  if (x.rank() == 0) return reshape(x, {1});
  const std::int64_t begin = axis_in(first, x.rank()), end = axis_in(last, x.rank());
  want(begin <= end, "axes in the wrong order");
  Numbers shape(x.shape.begin(), x.shape.begin() + begin);
  shape.push_back(1);
  for (std::int64_t i = begin; i <= end; ++i) shape.back() *= x.shape[at(i)];
  shape.insert(shape.end(), x.shape.begin() + end + 1, x.shape.end());
  return reshape(x, shape);
}

Array unflatten(const Array& x, std::int64_t axis, const Numbers& sizes) {
  const std::int64_t i = axis_in(axis, x.rank());
  want(count_of(sizes) == x.shape[at(i)], "other sizes");
  Numbers shape = x.shape;
  shape.erase(shape.begin() + i);
  shape.insert(shape.begin() + i, sizes.begin(), sizes.end());
  return reshape(x, shape);
}

Array open_reshape(const Array& x, const Numbers& shape) {
  Numbers whole = shape;
  std::int64_t known = 1;
  for (const std::int64_t size : shape) known *= size == -1 ? 1 : size;
  want(known > 0 && static_cast<std::int64_t>(x.size()) % known == 0, "no size that remains");
  for (std::int64_t& size : whole)
    if (size == -1) size = static_cast<std::int64_t>(x.size()) / known;
  return reshape(x, whole);
}

Array squeeze_all(const Array& x) {
  Numbers shape = x.shape;
  std::erase(shape, 1);
  return reshape(x, shape);
}

Array narrow(const Array& x, std::int64_t axis, std::int64_t start, std::int64_t length) {
  Numbers bounds;
  for (const std::int64_t size : x.shape) bounds.insert(bounds.end(), {0, size});
  const std::size_t i = at(axis_in(axis, x.rank()));
  const std::int64_t first = start < 0 ? start + x.shape[i] : start;
  bounds[2 * i] = first, bounds[2 * i + 1] = first + length;
  return shrink(x, bounds);
}

Array select(const Array& x, std::int64_t axis, std::int64_t index) {
  return squeeze(narrow(x, axis, index, 1), axis_in(axis, x.rank()));
}

Array split_part(const Array& x, std::int64_t axis, std::int64_t size, std::int64_t part) {
  want(size > 0, "parts of nothing");
  const std::int64_t all = x.shape[at(axis_in(axis, x.rank()))];
  want(part == 0 || part * size < all, "no such part");
  return narrow(x, axis, part * size, std::min(size, all - part * size));
}

Array chunk_part(const Array& x, std::int64_t axis, std::int64_t parts, std::int64_t part) {
  const std::int64_t all = x.shape[at(axis_in(axis, x.rank()))];
  want(all > 0, "parts of nothing");
  return split_part(x, axis, (all + parts - 1) / parts, part);
}

Array tensor_split_part(const Array& x, std::int64_t axis, std::int64_t parts, std::int64_t part) {
  want(part < parts, "no such part");
  const std::int64_t all = x.shape[at(axis_in(axis, x.rank()))], longer = all % parts;
  const std::int64_t start = part * (all / parts) + std::min(part, longer);
  return narrow(x, axis, start, all / parts + (part < longer ? 1 : 0));
}

Array rot90(const Array& x, std::int64_t times, std::int64_t a, std::int64_t b) {
  want(axis_in(a, x.rank()) != axis_in(b, x.rank()), "one axis twice");
  switch ((times % 4 + 4) % 4) {
    case 0: return x;
    case 1: return swapaxes(flip(x, {b}), a, b);
    case 2: return flip(x, {a, b});
    default: return flip(swapaxes(x, a, b), {b});
  }
}

Array diagonal_of(const Array& x, std::int64_t offset, std::int64_t a, std::int64_t b) {
  const std::int64_t first = axis_in(a, x.rank()), second = axis_in(b, x.rank());
  want(first != second, "one axis twice");
  Numbers order{first, second};
  for (std::int64_t i = 0; i < x.rank(); ++i)
    if (i != first && i != second) order.push_back(i);
  return diagonal(permute(x, order), offset);
}

Array atleast(const Array& x, std::int64_t rank) {
  Numbers shape = x.shape;
  while (std::ssize(shape) < std::min<std::int64_t>(rank, 2)) shape.insert(shape.begin(), 1);
  if (rank == 3 && shape.size() == 2) shape.push_back(1);
  return reshape(x, shape);
}

Array meshgrid_part(const std::vector<Array>& all, std::size_t part, bool is_xy) {
  Numbers shape;
  for (const Array& each : all) {
    want(each.rank() == 1, "no vector");
    shape.push_back(each.shape[0]);
  }
  Numbers own(shape.size(), 1);
  own[part] = shape[part];
  const Array grid = expanded(reshape(all[part], own), shape);
  return is_xy ? swapaxes(grid, 0, 1) : grid;
}

Array tile(const Array& x, const Numbers& times) {
  Numbers all(x.shape.size() > times.size() ? x.shape.size() - times.size() : 0, 1);
  all.insert(all.end(), times.begin(), times.end());
  return repeat(x, all);
}

Array diff(const Array& x, std::int64_t times, std::int64_t axis) {
  Array result = copied(x);
  const std::size_t i = at(axis_in(axis, x.rank()));
  for (; times > 0 && result.shape[i] > 0; --times) {
    const std::int64_t rest = result.shape[i] - 1;
    result = binary(is_bool(x.type) ? "bitwise_xor" : "sub", narrow(result, axis, 1, rest),
                    narrow(result, axis, 0, rest));
  }
  return result;
}

Array trace(const Array& x) { return reduced("sum", diagonal(x, 0), {0}, false); }

Array diag_embed(const Array& x, std::int64_t offset) {
  Numbers shape = x.shape;
  shape.back() += std::abs(offset);
  shape.push_back(shape.back());
  Array result = fresh(x.type, shape);
  for (std::size_t i = 0; i < x.size(); ++i) {
    Numbers place = coordinates_of(i, x.shape);
    place.push_back(place.back() + std::max<std::int64_t>(0, offset));
    place[place.size() - 2] += std::max<std::int64_t>(0, -offset);
    result[position(place, shape)] = x[i];
  }
  return result;
}

namespace {

std::int64_t inside(std::int64_t place, std::int64_t size, Beyond mode) {
  if (mode == Beyond::Replicate) return std::clamp<std::int64_t>(place, 0, size - 1);
  if (mode == Beyond::Circular) return (place + size) % size;
  return place < 0 ? -place : place >= size ? 2 * (size - 1) - place : place;
}

}  // namespace

Array pad_from_inside(const Array& x, const Numbers& widths, Beyond mode) {
  Numbers shape = x.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t most = std::max(widths[2 * i], widths[2 * i + 1]);
    want(most == 0 || shape[i] > 0, "nothing to repeat");
    want(mode != Beyond::Reflect || most == 0 || most < shape[i], "more than there is");
    want(mode != Beyond::Circular || most <= shape[i], "more than there is");
    shape[i] += widths[2 * i] + widths[2 * i + 1];
  }
  Array result = fresh(x.type, shape);
  for (std::size_t i = 0; i < result.size(); ++i) {
    Numbers place = coordinates_of(i, shape);
    for (std::size_t axis = 0; axis < place.size(); ++axis)
      place[axis] = inside(place[axis] - widths[2 * axis], x.shape[axis], mode);
    result[i] = x[position(place, x.shape)];
  }
  return result;
}

Array kron(const Array& x, const Array& y) {
  Numbers a = x.shape, b = y.shape;
  a.insert(a.begin(), b.size() > a.size() ? b.size() - a.size() : 0, 1);
  b.insert(b.begin(), a.size() > b.size() ? a.size() - b.size() : 0, 1);
  Numbers left, right, shape;
  for (std::size_t i = 0; i < a.size(); ++i) {
    left.insert(left.end(), {a[i], 1});
    right.insert(right.end(), {1, b[i]});
    shape.push_back(a[i] * b[i]);
  }
  return reshape(binary("mul", reshape(x, left), reshape(y, right)), shape);
}

Array outer(const Array& x, const Array& y) {
  want(x.rank() == 1 && y.rank() == 1, "no vectors");
  return binary("mul", unsqueeze(x, 1), unsqueeze(y, 0));
}

Array block_diag(const std::vector<Array>& blocks) {
  Type type = blocks[0].type;
  Numbers shape{0, 0};
  for (const Array& block : blocks) {
    want(block.rank() == 2, "no matrix");
    type = promoted(type, block.type);
    shape[0] += block.shape[0], shape[1] += block.shape[1];
  }
  Array result = fresh(type, shape);
  std::int64_t row = 0, column = 0;
  for (const Array& block : blocks) {
    const Array own = cast(block, type);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const Numbers place = coordinates_of(i, own.shape);
      result[position({row + place[0], column + place[1]}, shape)] = own[i];
    }
    row += block.shape[0], column += block.shape[1];
  }
  return result;
}

namespace {

std::vector<Array> each(const std::vector<Array>& all, std::int64_t rank) {
  std::vector<Array> result;
  for (const Array& x : all) result.push_back(atleast(x, rank));
  return result;
}

}  // namespace

Array hstack(const std::vector<Array>& all) {
  const std::vector<Array> rows = each(all, 1);
  return cat(rows, rows[0].rank() == 1 ? 0 : 1);
}
Array vstack(const std::vector<Array>& all) { return cat(each(all, 2), 0); }
Array dstack(const std::vector<Array>& all) { return cat(each(all, 3), 2); }

Array column_stack(const std::vector<Array>& all) {
  std::vector<Array> columns;
  for (const Array& x : all)
    columns.push_back(x.rank() > 1 ? x : reshape(x, {static_cast<std::int64_t>(x.size()), 1}));
  return cat(columns, 1);
}

Array vander(const Array& x, std::int64_t columns, bool is_increasing) {
  want(x.rank() == 1, "no vector");
  Array exponents = fresh(x.type, {columns});
  for (std::int64_t i = 0; i < columns; ++i)
    exponents[at(i)] = converted(Cell::of(is_increasing ? i : columns - 1 - i), Type::I64, x.type);
  return binary("pow", unsqueeze(x, 1), exponents);
}

Array cartesian_prod(const std::vector<Array>& all) {
  std::vector<Array> columns;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Array grid = meshgrid_part(all, i, false);
    columns.push_back(reshape(copied(grid), {static_cast<std::int64_t>(grid.size())}));
  }
  return stack(columns, 1);
}

}  // namespace nets
