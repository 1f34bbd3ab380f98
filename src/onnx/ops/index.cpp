// Choosing elements by places and by conditions. Strings move as numbers do.

#include <algorithm>

#include <fmt/format.h>

#include "arguments.h"
#include "elements.h"
#include "tables.h"

namespace weft::onnx {
namespace {

Tensor places(const Call& call, const std::vector<std::int64_t>& values) {
  return Tensor(values, call.options(dtypes::i64));
}

// --- By places ------------------------------------------------------------------------------------------

// A single place that is known is a view.
Tensor gather(const Call& call, const Tensor& x) {
  const std::int64_t axis = axis_of(call, call.attr("axis", 0), x.ndim());
  const Value::Known* known = call.value(1).known();
  if (known != nullptr && known->is_scalar) return x.select(axis, known->elements[0]);
  return x.take(call.tensor(1), axis);
}

Tensor gather_elements(const Call& call, const Tensor& x) {
  const std::int64_t axis = axis_of(call, call.attr("axis", 0), x.ndim());
  return x.gather(axis, call.tensor(1));
}

// The last axis of the places counts along as many axes behind those of the batch, which go along.
Tensor gather_nd(const Call& call, const Tensor& x) {
  const Tensor index = call.tensor(1);
  const std::int64_t batch = call.attr("batch_dims", 0), rank = index.ndim() - 1;
  if (batch < 0 || batch > rank || batch >= x.ndim())
    call.refuse(fmt::format("{} batch axes of {} and {} axes", batch, x.ndim(), index.ndim()));
  const std::int64_t depth = index.size(-1);
  if (depth < 1 || depth > x.ndim() - batch)
    call.refuse(fmt::format("places of {} numbers in {} axes", depth, x.ndim() - batch));
  std::vector<Index> indices;
  for (std::int64_t axis = 0; axis < batch; ++axis)
    indices.emplace_back(
        along(Tensor::arange(x.size(axis), call.options(dtypes::i64)), axis, rank));
  for (std::int64_t i = 0; i < depth; ++i) indices.emplace_back(index.select(-1, i));
  return x[Indices(std::move(indices))];
}

// The first `length` of each sequence come in reverse.
Tensor reverse_sequence(const Call& call, const Tensor& x) {
  const std::int64_t time = axis_of(call, call.attr("time_axis", 0), x.ndim());
  const std::int64_t batch = axis_of(call, call.attr("batch_axis", 1), x.ndim());
  if (time == batch) call.refuse(fmt::format("time and batch are both axis {}", time));
  const Tensor step =
      along(Tensor::arange(x.size(time), call.options(dtypes::i64)), time, x.ndim());
  const Tensor length = along(call.tensor(1).cast(dtypes::i64), batch, x.ndim());
  const Tensor from = (step < length).where(length - 1 - step, step);
  return x.gather(time, from.expand(x.dims()));
}

// Values are (off, on).
Tensor one_hot(const Call& call) {
  const std::int64_t classes = call.integer(1);
  if (classes < 0) call.refuse(fmt::format("a depth of {}", classes));
  const Tensor index = from_front(call.tensor(0), classes), values = call.tensor(2);
  const std::int64_t rank = index.ndim() + 1, axis = axis_of(call, call.attr("axis", -1), rank);
  const Tensor classes_along =
      along(Tensor::arange(classes, call.options(dtypes::i64)), axis, rank);
  return (index.unsqueeze(axis) == classes_along).where(values.select(0, 1), values.select(0, 0));
}

// --- By conditions: how much that is, is computed -----------------------------------------------------

Values where(const Call& call) {
  const Elements elements(call, {1, 2});
  return {elements.value(call.tensor(0).where(elements[0], elements[1]))};
}

Tensor compress(const Call& call, const Tensor& x) {
  const Tensor from = call.has("axis") ? x : x.flatten();
  const std::int64_t axis = axis_of(call, call.attr("axis", 0), from.ndim());
  const std::vector<std::int64_t> condition = call.ints(1);
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < condition.size(); ++i)
    if (condition[i] != 0) chosen.push_back(static_cast<std::int64_t>(i));
  if (!chosen.empty() && chosen.back() >= from.size(axis))
    call.refuse(
        fmt::format("the condition holds at {} of {} places", chosen.back(), from.size(axis)));
  return from.take(places(call, chosen), axis);
}

// A row for each axis. A tensor without axes has its number of places, and no rows.
Tensor non_zero(const Call& call) {
  const std::vector<std::int64_t> shape = call.tensor(0).shape();
  const std::vector<double> values = call.numbers(0);
  std::vector<std::int64_t> flat;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) flat.push_back(static_cast<std::int64_t>(i));
  const auto count = static_cast<std::int64_t>(flat.size());
  if (shape.empty()) return Tensor::zeros({0, count}, call.options(dtypes::i64));
  std::vector<Tensor> rows;
  Tensor rest = places(call, flat);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    rows.insert(rows.begin(), rest % std::max<std::int64_t>(shape[axis], 1));
    rest = rest.floordiv(std::max<std::int64_t>(shape[axis], 1));
  }
  return Tensor::stack(rows);
}

}  // namespace

OpTable index_ops() {
  static const Op ops[] = {
      {"Compress", 9, moved<compress>},
      {"Gather", 1, moved<gather>},
      {"GatherElements", 11, moved<gather_elements>},
      {"GatherND", 11, moved<gather_nd>},
      {"NonZero", 9, non_zero},
      {"OneHot", 9, one_hot},
      {"ReverseSequence", 10, moved<reverse_sequence>},
      {"Where", 9, where},
  };
  return {"", ops};
}

}  // namespace weft::onnx
