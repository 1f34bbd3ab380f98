// Where values belong, and how often they occur.

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <weft/error.h>

#include "places.h"
#include "within.h"

namespace weft {

Tensor Tensor::isin(const Tensor& elements, bool invert) const {
  const Called called;
  const Tensor found = (unsqueeze(-1) == elements.flatten()).any(-1);
  return invert ? !found : found;
}

namespace {

// Fewer than this are compared one by one.
constexpr std::int64_t few = 16;

// Whether a value belongs behind an element, NaN behind all others.
Tensor is_behind(const Tensor& element, const Tensor& value, bool right) {
  return right ? (element <= value) | value.isnan()
               : (element < value) | (value.isnan() & !element.isnan());
}

// By halves: the places are tried as the bits of a number, from the highest.
Tensor searched(const Tensor& sorted, const Tensor& values, bool right) {
  const Unchecked some_are_outside;
  const std::int64_t count = sorted.size(-1);
  Tensor found =
      Tensor::full(Shape(values.dims()), 0, {.dtype = dtypes::i32, .device = values.device()});
  for (auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(count)));
       step > 0; step /= 2) {
    const Tensor next = found + step;
    const Tensor element = sorted.ndim() == 1 ? sorted.take(next - 1) : sorted.gather(-1, next - 1);
    found = ((next <= count) & is_behind(element, values, right)).where(next, found);
  }
  return found;
}

}  // namespace

Tensor Tensor::searchsorted(const Tensor& values, bool right) const {
  const Called called;
  if (ndim() == 0) user_error("searchsorted: a scalar has no order to search in");
  bool fits = ndim() == 1 || ndim() == values.ndim();
  for (std::int64_t axis = 0; fits && ndim() > 1 && axis + 1 < ndim(); ++axis)
    fits = size(axis) == values.size(axis);
  if (!fits)
    user_error(
        fmt::format("searchsorted: values of shape {} have other rows than those of shape {}",
                    shape_text(values.uop()), shape_text(uop())));
  if (size(-1) > few) return searched(*this, values, right);
  const Tensor rows = ndim() == 1 ? *this : unsqueeze(-2);
  return is_behind(rows, values.unsqueeze(-1), right).sum(-1, false, dtypes::i32);
}

namespace {

void want_flat(std::string_view op, const Tensor& tensor) {
  if (tensor.ndim() != 1)
    user_error(
        fmt::format("{}: a tensor of shape {} has not one axis", op, shape_text(tensor.uop())));
}

void want_weights(std::string_view op, const Tensor& weights, const Tensor& x) {
  if (!weights.is_null() && weights.uop()->shape() != x.uop()->shape())
    user_error(fmt::format("{}: weights of shape {} for elements of shape {}", op,
                           shape_text(weights.uop()), shape_text(x.uop())));
}

// Numbers below 0 or from the length on are not counted. Few bits would stop counting early.
Tensor added_up(const Tensor& numbers, std::int64_t length, DType dtype, const Tensor& weights) {
  const DType wide = dtype.is_float() ? promote(dtype, dtypes::f32) : dtype;
  const Operand none(Tensor::zeros({length}, {.dtype = wide, .device = numbers.device()}));
  const Operand index(numbers);
  return with_written("histogram", none, slices_along(none.uop(), 0, index.uop()),
                      weights.is_null() ? Operand(1) : Operand(weights.cast(wide)), Op::Add,
                      {&index})
      .cast(dtype);
}

}  // namespace

Tensor Tensor::bincount(const Tensor& weights, std::int64_t least_length) const {
  const Called called;
  want_integers("bincount", *this);
  want_flat("bincount", *this);
  want_weights("bincount", weights, *this);
  if (least_length < 0)
    user_error(fmt::format("bincount: a least length of {}: want at least 0", least_length));
  std::int64_t length = least_length;
  if (numel() > 0) {
    const auto ends = stack({min(), max()}).to_vector<std::int64_t>();
    if (ends[0] < 0) user_error(fmt::format("bincount: {} is negative", ends[0]));
    length = std::max(length, ends[1] + 1);
  }
  const DType dtype = weights.is_null()            ? dtypes::i32
                      : weights.dtype().is_float() ? weights.dtype()
                                                   : dtypes::f64;
  return added_up(*this, length, dtype, weights);
}

namespace {

void want_floats(std::string_view op, const Tensor& x) {
  if (!x.dtype().is_float())
    user_error(fmt::format("{}: of {}: only floats fall between edges", op, x.dtype().str()));
}

// The ends of what is to be counted, as tensors: as given, or the extremes. Equal ones move apart.
std::pair<Tensor, Tensor> ends_of(std::string_view op, const Tensor& x,
                                  std::optional<std::pair<double, double>> bounds) {
  if (bounds && !(bounds->first <= bounds->second && std::isfinite(bounds->first) &&
                  std::isfinite(bounds->second)))
    user_error(fmt::format("{}: from {} to {} is no range", op, bounds->first, bounds->second));
  const bool is_empty = x.numel() == 0;
  const auto end = [&](double given, auto extreme) {
    if (bounds) return Tensor::full({}, given, {.dtype = x.dtype(), .device = x.device()});
    return is_empty ? Tensor::zeros({}, {.dtype = x.dtype(), .device = x.device()}) : extreme();
  };
  const Tensor least = end(bounds ? bounds->first : 0, [&] { return x.min(); });
  const Tensor most = end(bounds ? bounds->second : 0, [&] { return x.max(); });
  const Tensor apart = (least == most).cast(x.dtype()) * 0.5;
  return {least - apart, most + apart};
}

void want_bins(std::string_view op, std::int64_t bins) {
  if (bins < 1) user_error(fmt::format("{}: {} bins: want at least 1", op, bins));
}

}  // namespace

Tensor Tensor::histc(std::int64_t bins, double least, double most) const {
  const Called called;
  want_floats("histc", *this);
  want_bins("histc", bins);
  const bool is_open = least == 0 && most == 0;
  const auto bounds = is_open ? std::nullopt : std::optional(std::pair(least, most));
  const Tensor x = flatten();
  const auto [from, to] = ends_of("histc", x, bounds);
  const Tensor first = from.cast(promote(dtype(), dtypes::f32));
  const Tensor part = ((x - first) / (to - first) * static_cast<double>(bins)).floor();
  const Tensor number = part.minimum(static_cast<double>(bins - 1)).cast(dtypes::i32);
  const Tensor is_inside = (x >= from) & (x <= to);
  return added_up(is_inside.where(number, -1), bins, dtype(), {});
}

Tensor::Histogram Tensor::histogram(std::int64_t bins,
                                    std::optional<std::pair<double, double>> bounds,
                                    const Tensor& weight, bool density) const {
  const Called called;
  want_floats("histogram", *this);
  want_bins("histogram", bins);
  const auto [from, to] = ends_of("histogram", *this, bounds);
  const DType wide = promote(dtype(), dtypes::f32);
  const Tensor first = from.cast(wide),
               place = arange(bins + 1, {.dtype = wide, .device = device()});
  const Tensor part = first + (to - first) * (place / static_cast<double>(bins));
  const Tensor edges = (place == bins).where(to, part.cast(dtype()));  // exactly
  return histogram(edges.contiguous(), weight, density);
}

Tensor::Histogram Tensor::histogram(const Tensor& edges, const Tensor& weight, bool density) const {
  const Called called;
  want_floats("histogram", *this);
  want_weights("histogram", weight, *this);
  want_flat("histogram", edges);
  const std::int64_t bins = edges.size(0) - 1;
  if (bins < 1) user_error("histogram: fewer than two edges");
  const Tensor x = flatten(), last = edges[-1];
  const Tensor number = edges.searchsorted(x, true) - 1;
  const Tensor inside = (x == last).where(bins - 1, number);
  const DType wide = promote(dtype(), dtypes::f32);
  const Tensor counts = added_up(inside, bins, wide, weight.is_null() ? weight : weight.flatten());
  if (!density) return {counts.cast(dtype()), edges};
  const Tensor widths = edges[Slice{1}].cast(wide) - edges[Slice{.stop = -1}];
  return {(counts / counts.sum() / widths).cast(dtype()), edges};
}

}  // namespace weft
