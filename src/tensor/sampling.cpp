// Random order and random choice of what is there.

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/random.h>

#include "draws.h"
#include "order.h"

namespace weft {

Tensor Tensor::randperm(std::int64_t count, const Options& options) {
  const Called called;
  if (count < 0) user_error(fmt::format("randperm: {} numbers: want at least 0", count));
  const Tensor keys = random_keys("randperm", {count}, {.device = options.device});
  const Tensor order = order_of(keys, false, count);
  return as_asked(order.cast(options.dtype.is_void() ? dtypes::i32 : options.dtype), options);
}

namespace {

// Where the sums up to each place first exceed a random part of the whole; nothing is behind the last
// that weighs.
Tensor with_replacement(const Tensor& weights, std::int64_t count) {
  const Tensor sums = weights.cumsum(-1).contiguous();
  const Tensor total = sums.slice(-1, {.start = -1});
  std::vector<Dim> dims = weights.dims();
  dims.back() = Dim(count);
  const Tensor part =
      unit("multinomial", Shape(dims), weights.dtype(), {.device = weights.device()}) * total;
  return sums.searchsorted(part, true).minimum(sums.searchsorted(total));
}

// In the order of exponential waiting times, whose rates are the weights.
Tensor without_replacement(const Tensor& weights, std::int64_t count) {
  const Draw draw("multinomial", Shape(weights.dims()),
                  {.dtype = weights.dtype(), .device = weights.device()});
  return order_of(-draw.open().log() / weights, false, count);
}

}  // namespace

Tensor Tensor::multinomial(std::int64_t num_samples, bool replacement) const {
  const Called called;
  if (ndim() < 1 || ndim() > 2 || size(-1) == 0)
    user_error(fmt::format("multinomial: weights of shape {} are not (places) or (rows, places)",
                           shape_text(uop())));
  if (num_samples < 1 || (!replacement && num_samples > size(-1)))
    user_error(fmt::format("multinomial: {} samples {} replacement from {} places", num_samples,
                           replacement ? "with" : "without", size(-1)));
  const Tensor weights = cast(promote(float_like(dtype()), dtypes::f32)).detach();
  return replacement || num_samples == 1 ? with_replacement(weights, num_samples)
                                         : without_replacement(weights, num_samples);
}

namespace random {

Tensor permutation(const Tensor& x, std::int64_t axis) {
  const Called called;
  axis = axis_of("permutation", axis, x.ndim());
  const Tensor order = Tensor::randperm(x.size(axis), {.device = x.device()});
  return x.transpose(0, axis).take(order).transpose(0, axis);
}

Tensor choice(const Tensor& x, const Shape& shape, const ChoiceOptions& options) {
  const Called called;
  if (x.ndim() == 0 || x.size(0) == 0)
    user_error(fmt::format("choice: shape {} has nothing to choose from", shape_text(x.uop())));
  const std::int64_t count = count_of("choice", shape), all = x.size(0);
  if (!options.replacement && count > all)
    user_error(fmt::format("choice: {} of {} without replacement", count, all));
  const Tensor& weights = options.weights;
  if (!weights.is_null() && (weights.ndim() != 1 || weights.size(0) != all))
    user_error(fmt::format("choice: weights of shape {} for {} to choose from",
                           shape_text(weights.uop()), all));
  Tensor places;
  if (!weights.is_null())
    places = weights.multinomial(count, options.replacement);
  else if (options.replacement)
    places = Tensor::randint(shape, 0, all, {.device = x.device()});
  else
    places = Tensor::randperm(all, {.device = x.device()}).shrink({{0, count}});
  return x.take(places.reshape(shape));
}

}  // namespace random
}  // namespace weft
