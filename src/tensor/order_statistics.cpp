// What stands at one place of the sorted elements: medians, quantiles, the most frequent.

#include <limits>

#include <fmt/format.h>
#include <weft/error.h>

#include "order.h"
#include "places.h"

namespace weft {
namespace {

using Selected = Tensor::Selected;
using Interpolation = Tensor::Interpolation;

Rows rows_of(std::string_view op, const Tensor& x, std::int64_t axis) {
  Rows rows(op, x, axis);
  if (rows.length() == 0)
    user_error(
        fmt::format("{}: axis {} of shape {} has no elements", op, axis, shape_text(x.uop())));
  return rows;
}

// The elements at these places, (..., 1).
Selected picked(const Rows& rows, const Tensor& index, bool keepdim) {
  return {rows.reduced(gathered(rows.x(), -1, index), keepdim), rows.reduced(index, keepdim)};
}

Tensor count_numbers(const Tensor& x) { return (!x.isnan()).sum(-1, true, dtypes::i32); }

// Behind all numbers comes what is NaN.
Selected middle(std::string_view op, const Tensor& x, std::int64_t axis, bool keepdim,
                bool skip_nan) {
  const Rows rows = rows_of(op, x, axis);
  const std::int64_t count = rows.length();
  const Tensor numbers = count_numbers(rows.x());
  const Tensor at = skip_nan ? (numbers - 1).maximum(0).floordiv(2)
                             : (numbers < count).where(numbers, (count - 1) / 2);
  return picked(rows, gathered(order_of(rows.x(), false, count), -1, at), keepdim);
}

}  // namespace

Selected Tensor::kthvalue(std::int64_t k, std::int64_t axis, bool keepdim) const {
  const Called called;
  const Rows rows = rows_of("kthvalue", *this, axis);
  if (k < 1 || k > rows.length())
    user_error(
        fmt::format("kthvalue: element {} of {}: want 1 to {}", k, rows.length(), rows.length()));
  const Tensor first = order_of(rows.x(), false, k);
  return picked(rows, first.slice(-1, {.start = k - 1}), keepdim);
}

Selected Tensor::median(std::int64_t axis, bool keepdim) const {
  return Called(), middle("median", *this, axis, keepdim, false);
}

Selected Tensor::nanmedian(std::int64_t axis, bool keepdim) const {
  return Called(), middle("nanmedian", *this, axis, keepdim, true);
}

namespace {

// Equal elements share the gradient, as PyTorch has it where no index says which of them it is. Their number
// may be too large for few bits.
Tensor with_shared_gradient(const Tensor& found, const Tensor& all) {
  return Tensor::custom(
      {found.detach(), all}, [](const std::vector<Tensor>& in) { return in[0]; },
      [](const Tensor& g, const std::vector<Tensor>& in, const Tensor& y) {
        const DType wide = promote(g.dtype(), dtypes::f32);
        const Tensor is_found = (in[1] == y) | (in[1].isnan() & y.isnan());
        const Tensor part = (g.cast(wide) / is_found.cast(wide).sum()).cast(g.dtype());
        return std::vector<Tensor>{Tensor(), is_found.where(part, 0)};
      });
}

}  // namespace

Tensor Tensor::median() const {
  return Called(), with_shared_gradient(flatten().median(0).values, *this);
}
Tensor Tensor::nanmedian() const {
  return Called(), with_shared_gradient(flatten().nanmedian(0).values, *this);
}

// The first of the longest runs of equal ones ends where the run is longest.
Selected Tensor::mode(std::int64_t axis, bool keepdim) const {
  const Called called;
  const Rows rows = rows_of("mode", *this, axis);
  const Tensor order = order_of(rows.x(), false, rows.length()).contiguous();
  const Tensor place = arange(rows.length(), {.device = device()});
  const Tensor begin = is_begin(gathered(rows.x().detach(), -1, order)).where(place, 0);
  const Tensor at = (place - begin.cummax(-1).first).argmax(-1, true);
  return picked(rows, gathered(order, -1, at), keepdim);
}

namespace {

// At places that lie between those of what is sorted.
Tensor between(const Tensor& sorted, const Tensor& place, Interpolation interpolation) {
  const auto at = [&](const Tensor& whole) {
    return gathered(sorted, -1, whole.cast(dtypes::i32));
  };
  const Tensor below = place.floor(), above = place.ceil();
  switch (interpolation) {
    case Interpolation::Lower: return at(below);
    case Interpolation::Higher: return at(above);
    case Interpolation::Nearest: return at(place.round());
    case Interpolation::Linear:
    case Interpolation::Midpoint: break;
  }
  const Tensor weight =
      interpolation == Interpolation::Midpoint ? (above - below) * 0.5 : place - below;
  const Tensor low = at(below), high = at(above);
  // From the nearer end; where there is nothing between, that is also of infinities.
  const Tensor apart = high - low;
  const Tensor inner = (weight < 0.5).where(low + apart * weight, high - apart * (1 - weight));
  return (below == above).where(low, inner);
}

struct Quantile {
  std::string_view op;
  std::optional<std::int64_t> axis;
  bool keepdim, skip_nan;
  Interpolation interpolation;
};

Tensor quantile_of(const Tensor& tensor, const Tensor& q, const Quantile& how) {
  if (q.ndim() > 1)
    user_error(
        fmt::format("{}: q of shape {}: want a number or one axis", how.op, shape_text(q.uop())));
  const DType own = float_like(tensor.dtype()), within = promote(own, dtypes::f32);
  const Tensor x = (how.axis ? tensor : tensor.flatten()).cast(within);
  const Rows rows = rows_of(how.op, x, how.axis.value_or(0));
  // Places beyond 2^24 are no f32.
  const DType placing = rows.length() > (1 << 24) ? dtypes::f64 : within;
  const Tensor count = count_numbers(rows.x());
  const Tensor order = order_of(rows.x(), false, rows.length());
  const Tensor sorted = gathered(rows.x(), -1, order).contiguous();
  const Tensor last = how.skip_nan ? (count - 1).maximum(0) : count.full_like(rows.length() - 1);
  const Tensor part = q.flatten().cast(placing);
  const Tensor found = between(sorted, last.cast(placing) * part, how.interpolation);
  const Tensor is_part = (part >= 0) & (part <= 1);  // what a tensor says is not known before
  const Tensor is_known = how.skip_nan ? is_part : is_part & (count == rows.length());
  const Tensor known = is_known.where(found, std::numeric_limits<double>::quiet_NaN());
  Tensor result = rows.reduced(known.unsqueeze(0).transpose(0, -1), how.keepdim).cast(own);
  if (how.keepdim && !how.axis) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(tensor.ndim()) + 1, 1);
    sizes[0] = -1;
    result = result.reshape(sizes);
  }
  return q.ndim() == 0 ? result.squeeze(0) : result;
}

Tensor number(std::string_view op, double q, const Tensor& x) {
  if (!(q >= 0 && q <= 1)) user_error(fmt::format("{}: q is {}: want 0 to 1", op, q));
  return Tensor::full({}, q, {.dtype = dtypes::f64, .device = x.device()});
}

}  // namespace

Tensor Tensor::quantile(const Tensor& q, std::optional<std::int64_t> axis, bool keepdim,
                        Interpolation interpolation) const {
  return Called(), quantile_of(*this, q, {"quantile", axis, keepdim, false, interpolation});
}

Tensor Tensor::quantile(double q, std::optional<std::int64_t> axis, bool keepdim,
                        Interpolation interpolation) const {
  return Called(), quantile(number("quantile", q, *this), axis, keepdim, interpolation);
}

Tensor Tensor::nanquantile(const Tensor& q, std::optional<std::int64_t> axis, bool keepdim,
                           Interpolation interpolation) const {
  return Called(), quantile_of(*this, q, {"nanquantile", axis, keepdim, true, interpolation});
}

Tensor Tensor::nanquantile(double q, std::optional<std::int64_t> axis, bool keepdim,
                           Interpolation interpolation) const {
  return Called(), nanquantile(number("nanquantile", q, *this), axis, keepdim, interpolation);
}

}  // namespace weft
