// Parts of tensors and tensors of parts: numbers and slices as movement, integer tensors as gathers.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {
namespace {

// The elements start, start + step ... of an axis; of a negative step in the end turned around.
struct Steps {
  std::int64_t start, count, step;
};

Steps steps_of(const Slice& slice, std::int64_t size) {
  if (slice.step == 0) user_error("slice: the step is 0");
  const std::int64_t width = slice.step < 0 ? -slice.step : slice.step;
  // Between the first and the last place that the direction allows, one past the end included.
  const std::int64_t least = slice.step < 0 ? -1 : 0, most = slice.step < 0 ? size - 1 : size;
  const auto place = [&](std::optional<std::int64_t> at, std::int64_t otherwise) {
    if (!at) return otherwise;
    return std::clamp(*at < 0 ? *at + size : *at, least, most);
  };
  const std::int64_t start = place(slice.start, slice.step < 0 ? most : least);
  const std::int64_t stop = place(slice.stop, slice.step < 0 ? least : most);
  const std::int64_t distance = slice.step < 0 ? start - stop : stop - start;
  const std::int64_t count = distance > 0 ? (distance + width - 1) / width : 0;
  const bool turned = slice.step < 0 && count > 0;
  return {turned ? start - (count - 1) * width : start, count, slice.step};
}

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
Tensor Tensor::slice(std::int64_t axis, Slice slice) const {
  axis = axis_of("slice", axis, ndim());
  const std::int64_t size = this->size(axis);
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

Tensor Tensor::operator[](const Indices& indices) const {
  std::int64_t used = 0, ellipses = 0;
  for (const Index& index : indices.list()) {
    used += index.form() == Index::Form::At || index.form() == Index::Form::Slice;
    ellipses += index.form() == Index::Form::Ellipsis;
  }
  if (used > ndim())
    user_error(fmt::format("[]: {} indices for a tensor of shape {}", used, shape_text(uop())));
  if (ellipses > 1) user_error("[]: more than one ellipsis");
  Tensor part = *this;
  std::int64_t axis = 0;
  for (const Index& index : indices.list()) {
    switch (index.form()) {
      case Index::Form::At: {
        const std::int64_t size = part.size(axis),
                           at = index.at() < 0 ? index.at() + size : index.at();
        if (at < 0 || at >= size)
          user_error(fmt::format("[]: index {} is outside axis {} of shape {}", index.at(), axis,
                                 shape_text(part.uop())));
        part = shrunk(part, axis, at, at + 1).squeeze(axis);
        break;
      }
      case Index::Form::Slice: part = part.slice(axis++, index.slice()); break;
      case Index::Form::Ellipsis: axis += ndim() - used; break;
      case Index::Form::NewAxis: part = part.unsqueeze(axis++); break;
    }
  }
  return part;
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

namespace {

void want_integers(std::string_view op, const Tensor& index) {
  if (!index.dtype().is_int())
    user_error(fmt::format("{}: the index is {}, not an integer", op, index.dtype().str()));
}

// The elements of the source at these places, zeros where `valid` is false. What is read at places
// that only the run knows lies in memory.
UOp gathered(const UOp& source, const UOp& valid, const std::vector<UOp>& places) {
  const UOp memory = source->op() == Op::Buffer ? source : make(Op::Contiguous, {source});
  std::vector<UOp> src{memory, valid};
  src.insert(src.end(), places.begin(), places.end());
  return make(Op::Load, {make(Op::Index, src)});
}

UOp inside(const UOp& index, const UOp& size) {
  const UOp limit = converted(weft::cast(size, dtypes::index), index->dtype());
  return (index >= const_int(0, index->dtype())) & (index < limit);
}

// The place along each axis, for every element of these sizes.
UOp along(const Sizes& sizes, std::size_t axis) {
  Sizes apart(sizes.size(), const_int(1));
  apart[axis] = sizes[axis];
  return weft::expand(weft::reshape(counted(sizes[axis], dtypes::i32), apart), sizes);
}

}  // namespace

Tensor Tensor::take(const Tensor& index) const {
  want_integers("take", index);
  if (ndim() == 0) user_error("take: a scalar has no axis to take from");
  const Operand x(*this), i(index);
  const Sizes rows = sizes_of(x.uop);
  Sizes sizes = sizes_of(i.uop), apart = sizes;
  sizes.insert(sizes.end(), rows.begin() + 1, rows.end());
  apart.insert(apart.end(), rows.size() - 1, const_int(1));
  const UOp row = weft::expand(weft::reshape(i.uop, apart), sizes);
  std::vector<UOp> places{row};
  for (std::size_t axis = 1; axis < rows.size(); ++axis)
    places.push_back(along(sizes, sizes.size() - rows.size() + axis));
  return result("take", gathered(x.uop, inside(row, rows[0]), places), {&x, &i});
}

Tensor Tensor::gather(std::int64_t axis, const Tensor& index) const {
  want_integers("gather", index);
  axis = axis_of("gather", axis, ndim());
  const Operand x(*this), i(index);
  const Sizes sizes = sizes_of(i.uop), own = sizes_of(x.uop);
  bool fits = sizes.size() == own.size();
  for (std::size_t k = 0; fits && k < sizes.size(); ++k)
    fits = static_cast<std::int64_t>(k) == axis || sizes[k]->bounds().hi <= own[k]->bounds().hi;
  if (!fits)
    user_error(
        fmt::format("gather: the index of shape {} is larger than {} elsewhere than on axis {}",
                    shape_text(i.uop), shape_text(x.uop), axis));
  std::vector<UOp> places;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    places.push_back(static_cast<std::int64_t>(k) == axis ? i.uop : along(sizes, k));
  const UOp valid = inside(i.uop, own[static_cast<std::size_t>(axis)]);
  return result("gather", gathered(x.uop, valid, places), {&x, &i});
}

Tensor Tensor::one_hot(std::int64_t classes) const {
  want_integers("one_hot", *this);
  const Tensor numbers = from({counted(const_int(classes), dtypes::i32), Symbol(device()), false});
  return (unsqueeze(-1) == numbers).cast(dtypes::i32);
}

}  // namespace weft
