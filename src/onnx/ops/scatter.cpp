// Writing to places. Strings move as numbers do.

#include <fmt/format.h>

#include "arguments.h"
#include "elements.h"
#include "tables.h"

namespace weft::onnx {
namespace {

// Along an axis, by places of the index's shape; what is there takes part.
Tensor written(const Call& call, const Tensor& x, std::int64_t axis, const Tensor& index,
               const Tensor& updates) {
  const std::string how = call.attr("reduction", "none");
  if (how == "none") return x.scatter(axis, index, updates);
  if (call.value(0).is_text()) call.refuse("strings are written, not reduced");
  constexpr std::pair<std::string_view, Tensor::Reduce> reductions[] = {
      {"add", Tensor::Reduce::Sum},
      {"mul", Tensor::Reduce::Prod},
      {"max", Tensor::Reduce::Amax},
      {"min", Tensor::Reduce::Amin}};
  for (const auto& [name, reduce] : reductions)
    if (how == name) return x.scatter_reduce(axis, index, updates, reduce);
  call.refuse(fmt::format("reduction {}: want none, add, mul, max or min", how));
}

Values scatter_elements(const Call& call) {
  const Elements elements(call, {0, 2});
  const Tensor& x = elements[0];
  const std::int64_t axis = axis_of(call, call.attr("axis", 0), x.ndim());
  return {elements.value(written(call, x, axis, call.tensor(1), elements[1]))};
}

// The last axis of the places counts along the first axes of x: along these as one, slices are written.
Values scatter_nd(const Call& call) {
  const Elements elements(call, {0, 2});
  const Tensor &x = elements[0], index = call.tensor(1);
  const std::int64_t depth = index.size(-1);
  if (depth < 1 || depth > x.ndim())
    call.refuse(fmt::format("places of {} numbers in {} axes", depth, x.ndim()));
  const Tensor rows = depth < x.ndim() ? x.flatten(depth) : x.unsqueeze(-1);
  const Tensor flat = rows.flatten(0, depth - 1);
  Tensor place = Tensor::zeros({}, call.options(dtypes::i64));
  for (std::int64_t i = 0; i < depth; ++i) {
    const Dim size = size_of(x, i);
    place = place * operand(size) + from_front(index.select(-1, i), size);
  }
  const Dim width = size_of(flat, 1);
  const Tensor every = place.flatten().unsqueeze(1).expand({-1, width});
  const Tensor updates = elements[1].reshape({size_of(every, 0), width});
  return {elements.value(written(call, flat, 0, every, updates).reshape(x.dims()))};
}

// From where each of the batch is, along the axis; in circles where the mode says so.
Values tensor_scatter(const Call& call) {
  const Elements elements(call, {0, 1});
  const Tensor &x = elements[0], &update = elements[1];
  const std::string mode = call.attr("mode", "linear");
  if (mode != "linear" && mode != "circular")
    call.refuse(fmt::format("mode {}: want linear or circular", mode));
  const std::int64_t rank = x.ndim(), axis = axis_of(call, call.attr("axis", -2), rank);
  if (axis == 0) call.refuse("axis 0 is that of the batch");
  Tensor place = along(Tensor::arange(update.size(axis), call.options(dtypes::i64)), axis, rank);
  if (call.has(2)) place = place + along(call.tensor(2).cast(dtypes::i64), 0, rank);
  if (mode == "circular") place = place % x.size(axis);
  return {elements.value(x.scatter(axis, place.expand(update.dims()), update))};
}

}  // namespace

OpTable scatter_ops() {
  static const Op ops[] = {
      {"Scatter", 9, scatter_elements},
      {"ScatterElements", 11, scatter_elements},
      {"ScatterND", 11, scatter_nd},
      {"TensorScatter", 24, tensor_scatter},
  };
  return {"", ops};
}

}  // namespace weft::onnx
