// Elements more than once, or elsewhere along their axis.

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <weft/dev/ir/node.h>
#include <weft/dev/tensor/sizes.h>
#include <weft/error.h>

#include "counts.h"
#include "ops.h"
#include "places.h"
#include "slices.h"
#include "windows.h"

namespace weft {

Tensor repeated(const Tensor& tensor, const Shape& times) {
  const std::vector<Dim>& counts = times.dims();
  if (std::ssize(counts) < tensor.ndim())
    user_error(fmt::format("repeat: {} numbers for a tensor of shape {}", counts.size(),
                           shape_text(tensor.uop())));
  std::vector<Dim> sizes(counts.size() - tensor.uop()->dims().size(), Dim(1));
  for (const Dim& dim : tensor.dims()) sizes.push_back(dim);
  std::vector<Dim> apart, together, result;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t count = constant_size("repeat", counts[i].uop());
    if (count < 0) user_error(fmt::format("repeat: {} times: want at least 0", count));
    apart.insert(apart.end(), {Dim(1), sizes[i]});
    together.insert(together.end(), {Dim(count), sizes[i]});
    elements_of("repeat", count, most(sizes[i]));
    result.push_back(weft::times(sizes[i], count));
  }
  return tensor.reshape(Shape(apart)).expand(Shape(together)).reshape(Shape(result));
}

// Neither this nor repeat_interleave() is a view: who writes to the result does not write to the tensor.
Tensor Tensor::repeat(const Shape& times) const { return Called(), from(repeated(*this, times)); }

Tensor Tensor::tile(const Shape& times) const {
  const Called called;
  std::vector<Dim> all = times.dims();
  if (std::ssize(all) < ndim()) all.insert(all.begin(), uop()->dims().size() - all.size(), Dim(1));
  return repeat(Shape(all));
}

Tensor Tensor::repeat_interleave(std::int64_t times, std::optional<std::int64_t> axis) const {
  const Called called;
  if (times < 0) user_error(fmt::format("repeat_interleave: {} times: want at least 0", times));
  if (!axis) return flatten().repeat_interleave(times, 0);
  const std::int64_t at = axis_of("repeat_interleave", *axis, ndim());
  std::vector<Dim> sizes = dims();
  sizes.insert(sizes.begin() + at + 1, Dim(times));
  return from(unsqueeze(at + 1).expand(Shape(sizes)).flatten(at, at + 1));
}

// The element at place k of the result is the first one whose running sum of times goes beyond k.
Tensor Tensor::repeat_interleave(const Tensor& times, std::optional<std::int64_t> axis,
                                 std::optional<std::int64_t> output_size) const {
  const Called called;
  constexpr std::string_view op = "repeat_interleave";
  want_integers(op, times);
  if (!axis) return flatten().repeat_interleave(times, 0, output_size);
  const std::int64_t at = axis_of(op, *axis, ndim()), size = this->size(at);
  if (times.ndim() > 1 || (times.numel() != 1 && times.numel() != size))
    user_error(fmt::format("{}: numbers of shape {} for axis {} of shape {}", op,
                           shape_text(times.uop()), at, shape_text(uop())));
  const Tensor ends = times.flatten().expand({size}).cumsum(0);
  const std::int64_t total =
      output_size || size == 0 ? output_size.value_or(0) : ends[-1].item<std::int64_t>();
  if (total < 0) user_error(fmt::format("{}: an output size of {}", op, total));
  return index_select(at, ends.searchsorted(arange(total, {.device = device()}), true));
}

Tensor Tensor::roll(std::int64_t shift) const {
  return Called(), flatten().roll(shift, 0).reshape(Shape(dims()));
}

Tensor Tensor::roll(std::int64_t shift, std::int64_t axis) const {
  const Called called;
  axis = axis_of("roll", axis, ndim());
  const std::int64_t size = this->size(axis);
  if (size == 0) return *this;
  const std::int64_t start = floor_mod(-shift, size);
  std::vector<Dim> twice(static_cast<std::size_t>(ndim()), Dim(1));
  twice[static_cast<std::size_t>(axis)] = Dim(2);
  return shrunk(repeat(Shape(twice)), axis, start, start + size);
}

Tensor Tensor::roll(const std::vector<std::int64_t>& shifts,
                    const std::vector<std::int64_t>& axes) const {
  const Called called;
  if (shifts.size() != axes.size())
    user_error(fmt::format("roll: {} shifts for {} axes: want as many of each", shifts.size(),
                           axes.size()));
  Tensor rolled = *this;
  for (std::size_t i = 0; i < axes.size(); ++i) rolled = rolled.roll(shifts[i], axes[i]);
  return rolled;
}

Tensor Tensor::unfold(std::int64_t axis, std::int64_t size, std::int64_t step) const {
  const Called called;
  const std::int64_t at = axis_of("unfold", axis, ndim());
  if (size < 1 || step < 1 || size > least(dims()[static_cast<std::size_t>(at)]))
    user_error(fmt::format("unfold: windows of {}, {} apart, along axis {} of shape {}", size, step,
                           at, shape_text(uop())));
  const Dim whole = dims()[static_cast<std::size_t>(at)];
  if (!whole.is_symbolic()) {
    const std::int64_t count = (least(whole) - size) / step + 1, apart = count == 1 ? size : step;
    if (apart >= size) {  // no two share an element: a view that can be assigned to
      const std::int64_t used = std::min(least(whole), count * apart);
      const Sizes none(static_cast<std::size_t>(ndim()), const_int(0));
      Sizes after = none;
      after[static_cast<std::size_t>(at)] = const_int(count * apart - used);
      const Tensor part = slice(at, {.stop = used});
      return part.viewed(weft::pad(part.uop(), none, after))
          .unflatten(at, {count, apart})
          .slice(at + 1, {.stop = size})
          .movedim(at + 1, -1);
    }
  }
  return windows_as_view(movedim(at, -1), {"unfold", {size}, step, 1, 0}).movedim(-2, at);
}

// --- Grids --------------------------------------------------------------------------------------------

namespace {

void want_vectors(std::string_view op, const std::vector<Tensor>& tensors,
                  std::int64_t least_axes) {
  if (tensors.empty()) user_error(fmt::format("{}: no tensors: want at least one", op));
  for (const Tensor& tensor : tensors)
    if (tensor.ndim() > 1 || tensor.ndim() < least_axes)
      user_error(fmt::format("{}: shape {} is not that of a vector", op, shape_text(tensor.uop())));
}

// Along one of so many axes.
Tensor along(const Tensor& vector, std::size_t axis, std::size_t axes) {
  std::vector<Dim> sizes(axes, Dim(1));
  if (vector.ndim() == 1) sizes[axis] = vector.dims()[0];
  return vector.reshape(Shape(sizes));
}

}  // namespace

std::vector<Tensor> Tensor::meshgrid(const std::vector<Tensor>& tensors, Meshgrid indexing) {
  const Called called;
  want_vectors("meshgrid", tensors, 0);
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    parts.push_back(along(tensors[i], i, tensors.size()));
  std::vector<Tensor> grid = broadcast_tensors(parts);
  if (indexing == Meshgrid::Xy && grid.size() > 1)
    for (Tensor& each : grid) each = each.transpose(0, 1);
  return grid;
}

Tensor Tensor::cartesian_prod(const std::vector<Tensor>& tensors) {
  const Called called;
  want_vectors("cartesian_prod", tensors, 1);
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns;
  for (const Tensor& each : meshgrid(tensors)) columns.push_back(each.flatten());
  return stack(columns, 1);
}

namespace {

// How many ways there are to choose r of n.
std::int64_t binomial(std::int64_t n, std::int64_t r) {
  std::int64_t count = 1;
  for (std::int64_t i = 1; i <= r; ++i) count = count * (n - r + i) / i;
  return r > n ? 0 : count;
}

}  // namespace

// The places with i < j < ... among all that there are.
Tensor Tensor::combinations(std::int64_t r, bool with_replacement) const {
  const Called called;
  want_vectors("combinations", {*this}, 1);
  if (r < 0) user_error(fmt::format("combinations: of {} elements: want at least 0", r));
  if (r == 0) return shrunk(*this, 0, 0, 0);
  const std::int64_t n = size(0);
  const auto axes = static_cast<std::size_t>(r);
  const Tensor places = arange(n, {.device = device()});
  Tensor chosen = full(Shape(std::vector<Dim>(axes, n)), true, {.device = device()});
  for (std::size_t i = 1; i < axes; ++i) {
    const Tensor left = along(places, i - 1, axes), right = along(places, i, axes);
    chosen = chosen & (with_replacement ? left <= right : left < right);
  }
  const std::int64_t count = n == 0 ? 0 : binomial(with_replacement ? n + r - 1 : n, r);
  return (*this)[chosen.nonzero(count)];
}

}  // namespace weft
