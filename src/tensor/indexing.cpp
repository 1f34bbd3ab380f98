// Parts of tensors and tensors of parts, as movement.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"
#include "slices.h"

namespace weft {
namespace {

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

}  // namespace

// Every width-th element is a column of rows of that width: the rows begin at, or somewhat before, the
// first element, so that the last one is whole. Where there is no room for that, padding makes it.
Tensor Tensor::slice(std::int64_t axis, const Slice& slice) const {
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

Tensor Tensor::cat(const std::vector<Tensor>& tensors, std::int64_t axis) {
  if (tensors.empty()) user_error("cat: no tensors");
  const std::int64_t ndim = tensors[0].ndim();
  axis = axis_of("cat", axis, ndim);
  std::int64_t total = 0;
  for (const Tensor& tensor : tensors) {
    bool fits = tensor.ndim() == ndim;
    for (std::int64_t i = 0; fits && i < ndim; ++i)
      fits = i == axis || tensor.size(i) == tensors[0].size(i);
    if (!fits)
      user_error(fmt::format("cat: shapes {} and {} differ elsewhere than on axis {}",
                             shape_text(tensors[0].uop()), shape_text(tensor.uop()), axis));
    total += tensor.size(axis);
  }
  Tensor joined;
  std::int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t stop = start + tensor.size(axis);
    Bounds padding(static_cast<std::size_t>(ndim), {0, 0});
    padding[static_cast<std::size_t>(axis)] = {start, total - stop};
    const Tensor placed = tensor.pad(padding);
    const Tensor own = full(Shape(tensor.dims()), true, {.device = tensor.device()}).pad(padding);
    joined = joined.is_null() ? placed : own.where(placed, joined);
    start = stop;
  }
  return joined;
}

Tensor Tensor::stack(const std::vector<Tensor>& tensors, std::int64_t axis) {
  std::vector<Tensor> wider;
  for (const Tensor& tensor : tensors) wider.push_back(tensor.unsqueeze(axis));
  return cat(wider, axis);
}

std::vector<Tensor> Tensor::split(const std::vector<std::int64_t>& sizes, std::int64_t axis) const {
  axis = axis_of("split", axis, ndim());
  if (std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != size(axis))
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
  if (size <= 0) user_error(fmt::format("split: into parts of {}", size));
  const std::int64_t whole = this->size(axis);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(whole / size), size);
  if (whole % size != 0 || whole == 0) sizes.push_back(whole % size);  // of nothing one empty part
  return split(sizes, axis);
}

std::vector<Tensor> Tensor::chunk(std::int64_t chunks, std::int64_t axis) const {
  if (chunks <= 0) user_error(fmt::format("chunk: into {} parts", chunks));
  return split(std::max<std::int64_t>(1, (size(axis) + chunks - 1) / chunks), axis);
}

Tensor Tensor::roll(std::int64_t shift, std::int64_t axis) const {
  axis = axis_of("roll", axis, ndim());
  const std::int64_t size = this->size(axis);
  if (size == 0) return *this;
  const std::int64_t start = floor_mod(-shift, size);
  std::vector<Dim> twice(static_cast<std::size_t>(ndim()), Dim(1));
  twice[static_cast<std::size_t>(axis)] = Dim(2);
  return shrunk(repeat(Shape(twice)), axis, start, start + size);
}

// In a row of size + 1 elements each, the diagonal is a column.
Tensor Tensor::diagonal() const {
  if (ndim() < 2) user_error(fmt::format("diagonal: shape {} has no two axes", shape_text(uop())));
  const std::int64_t rows = size(-2), columns = size(-1), length = std::min(rows, columns);
  const Tensor square = shrunk(shrunk(*this, ndim() - 2, 0, length), ndim() - 1, 0, length);
  if (length == 0) return square.squeeze(-2).flatten(-2, -1);
  Bounds padding(static_cast<std::size_t>(ndim() - 1), {0, 0});
  padding.back().second = length;
  return shrunk(square.flatten(-2).pad(padding).unflatten(-1, {length, length + 1}), ndim() - 1, 0,
                1)
      .squeeze(-1);
}

namespace {

// The row and the column of each element of the last two axes.
std::pair<Tensor, Tensor> places(std::string_view op, const Tensor& tensor) {
  if (tensor.ndim() < 2)
    user_error(fmt::format("{}: shape {} has no two axes", op, shape_text(tensor.uop())));
  const Symbol device(tensor.device());
  const std::vector<Dim> sizes = tensor.dims();
  const auto count = [&](const Dim& size) {
    return Tensor::from({counted(size.uop(), dtypes::i32), device, false});
  };
  return {count(sizes[sizes.size() - 2]).unsqueeze(-1), count(sizes.back())};
}

Operand zero_of(const Tensor& tensor) { return {const_int(0, tensor.dtype()), {}, false}; }

}  // namespace

Tensor Tensor::triu(std::int64_t diagonal) const {
  const auto [row, column] = places("triu", *this);
  return (row + diagonal <= column).where(*this, zero_of(*this));
}

Tensor Tensor::tril(std::int64_t diagonal) const {
  const auto [row, column] = places("tril", *this);
  return (column <= row + diagonal).where(*this, zero_of(*this));
}

}  // namespace weft
