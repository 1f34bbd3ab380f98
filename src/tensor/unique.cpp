// Which different elements there are.

#include "order.h"
#include "within.h"

namespace weft {
namespace {

// The runs of equal elements, and of which run each is.
Tensor::Unique runs_of(const Tensor& x) {
  const std::int64_t count = x.numel();
  const Options here{.dtype = dtypes::i32, .device = x.device()};
  if (count == 0) return {x, Tensor::zeros({0}, here), Tensor::zeros({0}, here)};
  const Tensor is_first = is_begin(x);
  const Tensor number = (is_first.cumsum(0, dtypes::i32) - 1).contiguous();
  const Tensor none = Tensor::zeros({number[-1].item<std::int64_t>() + 1}, here);
  const Unchecked some_are_outside;
  const Tensor begins = none.scatter(0, is_first.where(number, count), Tensor::arange(count, here));
  return {x.take(begins), number, begins.diff(1, 0, {}, Tensor::full({1}, count, here))};
}

}  // namespace

Tensor::Unique Tensor::unique() const {
  const Called called;
  const Tensor x = flatten().detach();
  const Tensor order = order_of(x, false, x.numel()).contiguous();
  const Unique runs = runs_of(x.take(order).contiguous());
  const Tensor inverse = order.zeros_like().scatter(0, order, runs.inverse);
  return {runs.values, inverse.reshape(Shape(dims())), runs.counts};
}

Tensor::Unique Tensor::unique_consecutive() const {
  const Called called;
  const Unique runs = runs_of(flatten().detach());
  return {runs.values, runs.inverse.reshape(Shape(dims())), runs.counts};
}

}  // namespace weft
