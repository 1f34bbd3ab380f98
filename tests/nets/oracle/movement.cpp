#include "movement.h"

#include <algorithm>

#include "elementwise.h"

namespace nets {
namespace {

// The same storage in another shape: each element's coordinates give those that it is read from.
template <class From>
Array viewed(const Array& x, const Numbers& shape, From from) {
  Array result{x.type, shape, x.storage, std::vector<std::size_t>(at(count_of(shape)))};
  for (std::size_t i = 0; i < result.size(); ++i)
    result.places[i] = x.places[position(from(coordinates_of(i, shape)), x.shape)];
  return result;
}

// Along one axis: the first place, and how far each is from the one before.
Array strided(const Array& x, std::size_t axis, std::int64_t first, std::int64_t step,
              std::int64_t count) {
  Numbers shape = x.shape;
  shape[axis] = count;
  return viewed(x, shape, [&](Numbers place) {
    place[axis] = first + place[axis] * step;
    return place;
  });
}

// As Python counts: from the end where negative, and then within the axis.
std::int64_t bounded(std::int64_t place, std::int64_t size, std::int64_t least, std::int64_t most) {
  return std::clamp(place < 0 ? place + size : place, least, most);
}

Array of_slice(const Array& x, std::size_t axis, const Part& part) {
  const std::int64_t size = x.shape[axis], step = part.step;
  want(step != 0, "a slice without steps");
  const std::int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
  const std::int64_t first = part.start ? bounded(*part.start, size, least, most)
                             : step > 0 ? 0
                                        : size - 1;
  const std::int64_t last = part.stop  ? bounded(*part.stop, size, least, most)
                            : step > 0 ? size
                                       : -1;
  const std::int64_t room = step > 0 ? last - first : first - last;
  const std::int64_t by = std::abs(step);
  return strided(x, axis, first, step, room <= 0 ? 0 : (room + by - 1) / by);
}

}  // namespace

Array reshape(const Array& x, const Numbers& shape) {
  want(count_of(shape) == static_cast<std::int64_t>(x.size()), "a reshape to another size");
  Array result = x;
  result.shape = shape;
  return result;
}

Array permute(const Array& x, const Numbers& order) {
  want(order.size() == x.shape.size(), "an order of other axes");
  Numbers shape;
  for (const std::int64_t axis : order) shape.push_back(x.shape[at(axis_in(axis, x.rank()))]);
  return viewed(x, shape, [&](const Numbers& place) {
    Numbers from(place.size());
    for (std::size_t i = 0; i < order.size(); ++i) from[at(axis_in(order[i], x.rank()))] = place[i];
    return from;
  });
}

Array shrink(const Array& x, const Numbers& bounds) {
  want(bounds.size() == 2 * x.shape.size(), "bounds of other axes");
  Array result = x;
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis) {
    const std::int64_t start = bounds[2 * axis], stop = bounds[2 * axis + 1];
    want(start >= 0 && start <= stop && stop <= x.shape[axis], "bounds outside");
    result = strided(result, axis, start, 1, stop - start);
  }
  return result;
}

Array flip(const Array& x, const Numbers& axes) {
  Array result = x;
  for (const std::int64_t axis : axes) {
    const std::size_t i = at(axis_in(axis, x.rank()));
    result = strided(result, i, x.shape[i] - 1, -1, x.shape[i]);
  }
  return result;
}

Array pad(const Array& x, const Numbers& widths, const Cell& value) {
  want(widths.size() == 2 * x.shape.size(), "widths of other axes");
  Numbers shape = x.shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    want(widths[2 * axis] >= 0 && widths[2 * axis + 1] >= 0, "negative widths");
    shape[axis] += widths[2 * axis] + widths[2 * axis + 1];
  }
  Array result = fresh(x.type, shape);
  std::ranges::fill(*result.storage, value);
  for (std::size_t i = 0; i < x.size(); ++i) {
    Numbers place = coordinates_of(i, x.shape);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) place[axis] += widths[2 * axis];
    result[position(place, shape)] = x[i];
  }
  return result;
}

Array unsqueeze(const Array& x, std::int64_t axis) {
  Numbers shape = x.shape;
  shape.insert(shape.begin() + axis_in(axis, x.rank() + 1), 1);
  return reshape(x, shape);
}

Array squeeze(const Array& x, std::int64_t axis) {
  const std::int64_t i = axis_in(axis, x.rank());
  Numbers shape = x.shape;
  if (shape[at(i)] == 1) shape.erase(shape.begin() + i);
  return reshape(x, shape);
}

Array repeat(const Array& x, const Numbers& times) {
  want(times.size() >= x.shape.size(), "too few numbers");
  Numbers sizes(times.size() - x.shape.size(), 1), shape;
  sizes.insert(sizes.end(), x.shape.begin(), x.shape.end());
  for (std::size_t i = 0; i < sizes.size(); ++i) shape.push_back(sizes[i] * times[i]);
  return copied(viewed(reshape(x, sizes), shape, [&](Numbers place) {
    for (std::size_t i = 0; i < place.size(); ++i) place[i] %= sizes[i];
    return place;
  }));
}

Array repeat_interleave(const Array& x, std::int64_t times, std::int64_t axis) {
  const std::size_t i = at(axis_in(axis, x.rank()));
  Numbers shape = x.shape;
  shape[i] *= times;
  return copied(viewed(x, shape, [&](Numbers place) {
    place[i] /= times;
    return place;
  }));
}

Array roll(const Array& x, std::int64_t shift, std::int64_t axis) {
  const std::size_t i = at(axis_in(axis, x.rank()));
  const std::int64_t size = x.shape[i];
  return copied(viewed(x, x.shape, [&](Numbers place) {
    place[i] = ((place[i] - shift) % size + size) % size;
    return place;
  }));
}

Array unfold(const Array& x, std::int64_t axis, std::int64_t size, std::int64_t step) {
  const std::size_t i = at(axis_in(axis, x.rank()));
  want(size >= 1 && step >= 1 && size <= x.shape[i], "windows that do not fit");
  Numbers shape = x.shape;
  shape[i] = (shape[i] - size) / step + 1;
  shape.push_back(size);
  return viewed(x, shape, [&](Numbers place) {
    place[i] = place[i] * step + place.back();
    place.pop_back();
    return place;
  });
}

Array diagonal(const Array& x, std::int64_t offset) {
  want(x.rank() >= 2, "no matrix");
  const std::int64_t row = std::max<std::int64_t>(0, -offset),
                     column = std::max<std::int64_t>(0, offset);
  Numbers shape(x.shape.begin() + 2, x.shape.end());
  shape.push_back(std::max<std::int64_t>(0, std::min(x.shape[0] - row, x.shape[1] - column)));
  return viewed(x, shape, [&](const Numbers& place) {
    Numbers from{row + place.back(), column + place.back()};
    from.insert(from.end(), place.begin(), place.end() - 1);
    return from;
  });
}

Array triangle(const Array& x, std::int64_t offset, bool is_upper) {
  want(x.rank() >= 2, "no matrix");
  Array result = copied(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Numbers place = coordinates_of(i, x.shape);
    const std::int64_t right = place[place.size() - 1] - place[place.size() - 2];
    if (is_upper ? right < offset : right > offset)
      result[i] = is_float(x.type) ? Cell::of_real(0) : Cell::of(0);
  }
  return result;
}

Array cat(const std::vector<Array>& all, std::int64_t axis) {
  want(!all.empty(), "nothing to join");
  const std::size_t i = at(axis_in(axis, all[0].rank()));
  Type type = all[0].type;
  Numbers shape = all[0].shape;
  for (std::size_t k = 1; k < all.size(); ++k) {
    want(all[k].rank() == all[0].rank(), "other axes");
    for (std::size_t a = 0; a < shape.size(); ++a)
      want(a == i || shape[a] == all[k].shape[a], "other sizes beside the axis");
    type = promoted(type, all[k].type);
    shape[i] += all[k].shape[i];
  }
  Array result = fresh(type, shape);
  std::int64_t begin = 0;
  for (const Array& each : all) {
    const Array from = cast(each, type);
    for (std::size_t k = 0; k < from.size(); ++k) {
      Numbers place = coordinates_of(k, from.shape);
      place[i] += begin;
      result[position(place, shape)] = from[k];
    }
    begin += each.shape[i];
  }
  return result;
}

Array stack(const std::vector<Array>& all, std::int64_t axis) {
  std::vector<Array> rows;
  for (const Array& each : all) {
    want(each.shape == all[0].shape, "other shapes");
    rows.push_back(unsqueeze(each, axis));
  }
  return cat(rows, axis < 0 ? axis : axis_in(axis, all[0].rank() + 1));
}

Array sliced(const Array& x, const std::vector<Part>& parts) {
  const auto own = std::ranges::count_if(parts, [](const Part& part) {
    return part.form != Part::Form::NewAxis && part.form != Part::Form::Ellipsis;
  });
  want(own <= x.rank(), "more indices than axes");
  Array result = x;
  std::size_t axis = 0;
  for (const Part& part : parts) {
    if (part.form == Part::Form::Ellipsis) {
      axis += at(x.rank() - own);
    } else if (part.form == Part::Form::NewAxis) {
      result = unsqueeze(result, static_cast<std::int64_t>(axis++));
    } else if (part.form == Part::Form::At) {
      const std::int64_t size = result.shape[axis];
      want(part.number >= -size && part.number < size, "an index outside");
      result = strided(result, axis, part.number < 0 ? part.number + size : part.number, 1, 1);
      result = squeeze(result, static_cast<std::int64_t>(axis));
    } else {
      result = of_slice(result, axis, part);
      ++axis;
    }
  }
  return result;
}

}  // namespace nets
