// Diagonals and triangles of the last two axes, and of any two.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"
#include "slices.h"

namespace weft {

// In rows of size + 1 elements each, the diagonal is a column. The padding that fills the last row is no part of
// it, so this looks at the same memory.
Tensor Tensor::diagonal(std::int64_t offset, std::int64_t axis0, std::int64_t axis1) const {
  const Called called;
  if (ndim() < 2) user_error(fmt::format("diagonal: shape {} has no two axes", shape_text(uop())));
  const Tensor last = movedim(axes_of("diagonal", {axis0, axis1}, ndim()), {-2, -1});
  const std::int64_t rows = last.size(-2), columns = last.size(-1);
  const std::int64_t row = std::clamp<std::int64_t>(-offset, 0, rows);
  const std::int64_t column = std::clamp<std::int64_t>(offset, 0, columns);
  const std::int64_t length = std::min(rows - row, columns - column);
  const Tensor square =
      shrunk(shrunk(last, ndim() - 2, row, row + length), ndim() - 1, column, column + length);
  if (length == 0) return square.flatten(-2);
  const Tensor flat = square.flatten(-2);
  const Sizes none(static_cast<std::size_t>(flat.ndim()), const_int(0));
  Sizes behind = none;
  behind.back() = const_int(length);
  const Tensor padded = flat.viewed(weft::pad(flat.uop(), none, behind));
  return shrunk(padded.unflatten(-1, {length, length + 1}), ndim() - 1, 0, 1).squeeze(-1);
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

// Beyond the matrix all diagonals are alike.
std::int64_t nearest(const Tensor& matrix, std::int64_t diagonal) {
  const std::vector<std::int64_t> most = matrix.max_shape();
  return std::clamp(diagonal, -most.end()[-2], most.end()[-1]);
}

Operand zero_of(const Tensor& tensor) { return {const_int(0, tensor.dtype()), {}, false}; }

}  // namespace

Tensor Tensor::triu(std::int64_t diagonal) const {
  const Called called;
  const auto [row, column] = places("triu", *this);
  return (row + nearest(*this, diagonal) <= column).where(*this, zero_of(*this));
}

Tensor Tensor::tril(std::int64_t diagonal) const {
  const Called called;
  const auto [row, column] = places("tril", *this);
  return (column <= row + nearest(*this, diagonal)).where(*this, zero_of(*this));
}

Tensor Tensor::diag_embed(std::int64_t offset, std::int64_t axis0, std::int64_t axis1) const {
  const Called called;
  if (ndim() == 0) user_error("diag_embed: a scalar is no diagonal");
  const Axes axes = axes_of("diag_embed", {axis0, axis1}, ndim() + 1);
  const std::int64_t more = std::abs(offset), size = this->size(-1) + more;
  Bounds around(static_cast<std::size_t>(ndim()), {0, 0});
  (offset < 0 ? around.back().second : around.back().first) = more;
  std::vector<Dim> sizes = dims();
  sizes.back() = Dim(size);
  sizes.emplace_back(size);
  // By columns: what lies to the right of the diagonal begins after the first columns.
  const Tensor square = pad(around).unsqueeze(-2).expand(Shape(sizes));
  const auto [row, column] = places("diag_embed", square);
  return (row + offset == column).where(square, zero_of(*this)).movedim({-2, -1}, axes);
}

Tensor Tensor::diag(std::int64_t offset) const {
  const Called called;
  if (ndim() != 1 && ndim() != 2)
    user_error(fmt::format("diag: shape {} is that of no vector and no matrix", shape_text(uop())));
  return ndim() == 1 ? diag_embed(offset) : diagonal(offset);
}

namespace {

// How many places of such a matrix lie on the diagonal or below it.
std::int64_t count_below(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    count += std::clamp<std::int64_t>(row + offset + 1, 0, columns);
  return count;
}

// Ones in place of a matrix.
Tensor everywhere(std::string_view op, std::int64_t rows, std::int64_t columns,
                  const Options& options) {
  if (rows < 0 || columns < 0)
    user_error(fmt::format("{}: {} rows and {} columns: want at least 0", op, rows, columns));
  return Tensor::full({rows, columns}, true, {.device = options.device});
}

Tensor places_of(const Tensor& mask, std::int64_t count, const Options& options) {
  const Tensor places = mask.nonzero(count).T();
  return options.dtype.is_void() ? places : places.cast(options.dtype);
}

}  // namespace

Tensor Tensor::tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset,
                            const Options& options) {
  const Called called;
  const Tensor all = everywhere("tril_indices", rows, columns, options);
  return places_of(all.tril(offset), count_below(rows, columns, offset), options);
}

Tensor Tensor::triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset,
                            const Options& options) {
  const Called called;
  const Tensor all = everywhere("triu_indices", rows, columns, options);
  const std::int64_t count = rows * columns - count_below(rows, columns, offset - 1);
  return places_of(all.triu(offset), count, options);
}

}  // namespace weft
