// What a condition picks: one element after the other, or where they are.

#include <limits>

#include <fmt/format.h>
#include <weft/error.h>

#include "places.h"

namespace weft {
namespace {

void want_mask(std::string_view op, const Tensor& mask) {
  if (!mask.dtype().is_bool())
    user_error(fmt::format("{}: the mask is {}, not bool", op, mask.dtype().str()));
}

std::int64_t want_size(std::string_view op, std::int64_t size) {
  if (size < 0) user_error(fmt::format("{}: a size of {}: want at least 0", op, size));
  return size;
}

// Of each element of a flat mask, how many are true before it.
Tensor ranks(const Tensor& mask) { return mask.cumsum(0, dtypes::i32) - 1; }

// The rows where the mask is true, put into the target's one after the other. What it has no room for
// is left out.
Tensor packed(std::string_view op, const Tensor& target, const Tensor& mask, const Tensor& rows) {
  const Operand into(target), condition(mask), rank(ranks(mask));
  Places places;
  places.sizes = sizes_of(rows.uop());
  places.add(spread(rank.uop(), places.sizes, 0), sizes_of(into.uop())[0]);
  places.valid = places.valid & spread(condition.uop(), places.sizes, 0);
  for (std::size_t axis = 1; axis < places.sizes.size(); ++axis)
    places.along.push_back(steps(places.sizes, axis, const_int(0)));
  return with_written(op, into, places, rows, {}, {&condition});
}

}  // namespace

Tensor Tensor::masked_fill(const Tensor& mask, Scalar value) const {
  const Called called;
  want_mask("masked_fill", mask);
  const UOp literal = value.as(value.literal());
  want_held("masked_fill", dtype(), literal);
  return mask.where({converted(literal, dtype()), {}, false}, *this);
}

Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const {
  const Called called;
  want_mask("masked_fill", mask);
  if (value.ndim() != 0)
    user_error(
        fmt::format("masked_fill: a value of shape {} is no number", shape_text(value.uop())));
  want_held("masked_fill", dtype(), value.uop());
  return mask.where(value.cast(dtype()), *this);
}

Tensor Tensor::masked_select(const Tensor& mask) const {
  const Called called;
  want_mask("masked_select", mask);
  const Sizes sizes = broadcast_sizes("masked_select", {uop(), mask.uop()});
  const Tensor whole = mask.expand(Shape(std::vector<Dim>(sizes.begin(), sizes.end())));
  return masked_select(whole, whole.count_nonzero().item<std::int64_t>());
}

Tensor Tensor::masked_select(const Tensor& mask, std::int64_t size, Scalar fill) const {
  const Called called;
  want_mask("masked_select", mask);
  const Sizes sizes = broadcast_sizes("masked_select", {uop(), mask.uop()});
  const Shape shape(std::vector<Dim>(sizes.begin(), sizes.end()));
  const Tensor target =
      full({want_size("masked_select", size)}, fill, {.dtype = dtype(), .device = device()});
  return packed("masked_select", target, mask.expand(shape).flatten(), expand(shape).flatten());
}

Tensor Tensor::masked_scatter(const Tensor& mask, const Tensor& source) const {
  const Called called;
  want_mask("masked_scatter", mask);
  const Tensor whole = mask.expand(Shape(dims()));
  const Tensor next = source.flatten().take(ranks(whole.flatten())).reshape(Shape(dims()));
  return whole.where(next.cast(dtype()), *this);
}

Tensor Tensor::nonzero() const { return Called(), nonzero(count_nonzero().item<std::int64_t>()); }

// The place along an axis is what is left of the number of an element, divided by those behind.
Tensor Tensor::nonzero(std::int64_t size, std::int64_t fill) const {
  const Called called;
  const std::int64_t count = numel();
  const Options like{
      .dtype = count > std::numeric_limits<std::int32_t>::max() ? dtypes::i64 : dtypes::i32,
      .device = device()};
  const Tensor target = full({want_size("nonzero", size), ndim()}, fill, like);
  if (ndim() == 0) return target;
  std::vector<Tensor> places;
  std::int64_t behind = count;
  for (std::int64_t length : shape()) {
    behind = length == 0 ? 0 : behind / length;
    places.push_back(arange(count, like).floordiv(behind) % length);
  }
  return packed("nonzero", target, flatten() != 0, stack(places, 1));
}

std::vector<Tensor> Tensor::where() const {
  const Called called;
  const Tensor rows = nonzero();
  std::vector<Tensor> places;
  for (std::int64_t axis = 0; axis < ndim(); ++axis) places.push_back(rows[{Slice{}, axis}]);
  return places;
}

Tensor Tensor::count_nonzero(const AxisList& axes) const {
  return Called(), (*this != 0).sum(axes);
}

}  // namespace weft
