// Parts of tensors, as movement.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"
#include "slices.h"

namespace weft {

Tensor::Bounds whole(const Tensor& tensor) {
  Tensor::Bounds bounds;
  for (const Dim& dim : tensor.dims()) bounds.emplace_back(0, dim);
  return bounds;
}

Tensor shrunk(const Tensor& tensor, std::int64_t axis, std::int64_t start, std::int64_t stop) {
  Tensor::Bounds bounds = whole(tensor);
  bounds[static_cast<std::size_t>(axis)] = {start, stop};
  return tensor.shrink(bounds);
}

// Every width-th element is a column of rows of that width: the rows begin at, or somewhat before, the
// first element, so that the last one is whole. Where there is no room for that, padding makes it.
Tensor Tensor::slice(std::int64_t axis, const Slice& slice) const {
  const Called called;
  axis = axis_of("slice", axis, ndim());
  const Dim whole_axis = dims()[static_cast<std::size_t>(axis)];
  if (is_symbolic(slice, whole_axis)) {
    Bounds bounds = whole(*this);
    bounds[static_cast<std::size_t>(axis)] = {slice.start.value_or(0),
                                              slice.stop.value_or(whole_axis)};
    return shrink(bounds);
  }
  const std::int64_t size = whole_axis.uop()->lo();
  const auto [start, count, step] = steps_of(slice, size);
  const std::int64_t width = std::min(step < 0 ? -step : step, std::max<std::int64_t>(size, 1));
  if (count == 0) return shrunk(*this, axis, 0, 0);
  Tensor part = *this;
  if (width == 1 || count == 1) {
    part = shrunk(part, axis, start, start + count);
  } else {
    const std::int64_t excess = std::max<std::int64_t>(0, start + count * width - size);
    const std::int64_t back = excess <= std::min(start, width - 1) ? excess : 0;
    const std::int64_t missing = excess - back;
    const Sizes none(static_cast<std::size_t>(ndim()), const_int(0));
    Sizes after = none;
    after[static_cast<std::size_t>(axis)] = const_int(missing);
    part = part.viewed(weft::pad(part.uop(), none, after));
    part = shrunk(part, axis, start - back, start - back + count * width);
    part = part.unflatten(axis, {count, width});
    part = shrunk(part, axis + 1, back, back + 1).squeeze(axis + 1);
  }
  return step < 0 ? part.flip(axis) : part;
}

Tensor Tensor::narrow(std::int64_t axis, const Dim& start, const Dim& length) const {
  const Called called;
  const std::int64_t at = axis_of("narrow", axis, ndim());
  const Dim size = dims()[static_cast<std::size_t>(at)];
  const Interval starts = start.uop()->bounds(), lengths = length.uop()->bounds();
  std::int64_t least_stop = 0;
  const bool overflows = __builtin_add_overflow(starts.lo, lengths.lo, &least_stop);
  const UOp stop = start.is_symbolic() || length.is_symbolic()
                       ? weft::cast(start.uop(), dtypes::index) + length.uop()
                       : const_int(least_stop);
  if (starts.hi < 0 || lengths.hi < 0 || overflows ||
      (stop->is_const() && size.uop()->is_const() && stop->lo() > size.uop()->lo()))
    user_error(fmt::format("narrow: {} elements from {} on are no part of axis {} of shape {}",
                           size_text(length.uop()), size_text(start.uop()), at, shape_text(uop())));
  Bounds bounds = whole(*this);
  bounds[static_cast<std::size_t>(at)] = {start, Dim(stop)};
  return shrink(bounds);
}

Tensor Tensor::select(std::int64_t axis, const Dim& index) const {
  const Called called;
  const std::int64_t at = axis_of("select", axis, ndim());
  const UOp size = dims()[static_cast<std::size_t>(at)].uop();
  if (!index.is_symbolic() && size->is_const()) {
    const std::int64_t place = index.uop()->lo();
    if (place < -size->lo() || place >= size->lo())
      user_error(fmt::format("select: index {} is outside axis {} of shape {}", place, at,
                             shape_text(uop())));
  }
  std::vector<Index> indices(static_cast<std::size_t>(at), Index(Slice{}));
  indices.emplace_back(index);
  return (*this)[Indices(std::move(indices))];
}

std::vector<Tensor> Tensor::unbind(std::int64_t axis) const {
  const Called called;
  const std::int64_t at = axis_of("unbind", axis, ndim()), size = this->size(at);
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < size; ++i) parts.push_back(select(at, i));
  return parts;
}

std::vector<Tensor> Tensor::split(const std::vector<std::int64_t>& sizes, std::int64_t axis) const {
  const Called called;
  axis = axis_of("split", axis, ndim());
  std::int64_t left = size(axis);  // below 0 from the first size that is none, or too large
  for (const std::int64_t size : sizes) left = 0 <= size && size <= left ? left - size : -1;
  if (left != 0)
    user_error(fmt::format("split: the sizes ({}) are not all of axis {} of shape {}",
                           fmt::join(sizes, ", "), axis, shape_text(uop())));
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (std::int64_t size : sizes) {
    parts.push_back(shrunk(*this, axis, start, start + size));
    start += size;
  }
  return parts;
}

std::vector<Tensor> Tensor::split(std::int64_t size, std::int64_t axis) const {
  const Called called;
  if (size <= 0) user_error(fmt::format("split: into parts of {}: want at least 1", size));
  const std::int64_t whole = this->size(axis);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(whole / size), size);
  if (whole % size != 0 || whole == 0) sizes.push_back(whole % size);  // of nothing one empty part
  return split(sizes, axis);
}

std::vector<Tensor> Tensor::chunk(std::int64_t chunks, std::int64_t axis) const {
  const Called called;
  if (chunks <= 0) user_error(fmt::format("chunk: into {} parts: want at least 1", chunks));
  if (size(axis) == 0)
    return split(std::vector<std::int64_t>(static_cast<std::size_t>(chunks), 0), axis);
  return split((size(axis) - 1) / chunks + 1, axis);
}

namespace {

// The places before which so many parts begin, the first place left out.
std::vector<std::int64_t> even_cuts(std::int64_t size, std::int64_t parts) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 1; i < parts; ++i)
    places.push_back(i * (size / parts) + std::min(i, size % parts));
  return places;
}

// For those names that say the axis, and where parts are even.
std::vector<Tensor> evenly_split(std::string_view op, const Tensor& tensor, std::int64_t axis,
                                 std::int64_t least_axes, const Cuts& cuts) {
  if (tensor.ndim() < least_axes)
    user_error(fmt::format("{}: shape {} has fewer than {} axes", op, shape_text(tensor.uop()),
                           least_axes));
  const std::int64_t size = tensor.size(axis);
  if (const auto parts = cuts.parts(); parts && (*parts < 1 || size % *parts != 0))
    user_error(fmt::format("{}: axis {} of shape {} has no {} even parts", op, axis,
                           shape_text(tensor.uop()), *parts));
  return tensor.tensor_split(cuts, axis);
}

}  // namespace

std::vector<Tensor> Tensor::tensor_split(const Cuts& cuts, std::int64_t axis) const {
  const Called called;
  axis = axis_of("tensor_split", axis, ndim());
  const auto even = cuts.parts();
  if (even && *even < 1)
    user_error(fmt::format("tensor_split: into {} parts: want at least 1", *even));
  const auto places = even ? even_cuts(size(axis), *even) : cuts.places();
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (const std::int64_t place : places) {
    parts.push_back(slice(axis, {.start = start, .stop = place}));
    start = place;
  }
  parts.push_back(slice(axis, {.start = start}));
  return parts;
}

std::vector<Tensor> Tensor::hsplit(const Cuts& cuts) const {
  return Called(), evenly_split("hsplit", *this, ndim() == 1 ? 0 : 1, 1, cuts);
}
std::vector<Tensor> Tensor::vsplit(const Cuts& cuts) const {
  return Called(), evenly_split("vsplit", *this, 0, 2, cuts);
}
std::vector<Tensor> Tensor::dsplit(const Cuts& cuts) const {
  return Called(), evenly_split("dsplit", *this, 2, 3, cuts);
}

}  // namespace weft
