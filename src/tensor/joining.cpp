// Tensors of parts, as movement and choices.

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <weft/error.h>

#include "ops.h"

namespace weft {
namespace {

void want_tensors(std::string_view op, const std::vector<Tensor>& tensors) {
  if (tensors.empty()) user_error(fmt::format("{}: no tensors: want at least one", op));
}

// Of one shape, but for the axis.
void want_fitting(std::string_view op, const std::vector<Tensor>& tensors, std::int64_t axis) {
  const UOp first = tensors[0].uop();
  for (const Tensor& tensor : tensors) {
    const UOp other = tensor.uop();
    bool fits = other->dims().size() == first->dims().size();
    for (std::size_t i = 0; fits && i < first->dims().size(); ++i)
      fits = static_cast<std::int64_t>(i) == axis || other->dims()[i] == first->dims()[i];
    if (!fits)
      user_error(fmt::format("{}: shapes {} and {} differ elsewhere than on axis {}", op,
                             shape_text(first), shape_text(other), axis));
  }
}

// Half beside half: what an element is read through is as deep as the logarithm of their number.
Tensor halves_joined(std::span<const Tensor> tensors, std::int64_t axis) {
  if (tensors.size() == 1) return tensors[0];
  const std::size_t half = tensors.size() / 2;
  const Tensor front = halves_joined(tensors.first(half), axis);
  const Tensor back = halves_joined(tensors.subspan(half), axis);
  const auto along = static_cast<std::size_t>(axis);
  Tensor::Bounds behind(static_cast<std::size_t>(front.ndim()), {0, 0}), before = behind;
  behind[along].second = back.dims()[along];
  before[along].first = front.dims()[along];
  const Tensor is_front =
      Tensor::full(Shape(front.dims()), true, {.device = front.device()}).pad(behind);
  return is_front.where(front.pad(behind), back.pad(before));
}

}  // namespace

Tensor Tensor::cat(const std::vector<Tensor>& tensors, std::int64_t axis) {
  const Called called;
  want_tensors("cat", tensors);
  const std::int64_t ndim = tensors[0].ndim();
  axis = axis_of("cat", axis, ndim);
  want_fitting("cat", tensors, axis);
  const std::vector<Operand> operands(tensors.begin(), tensors.end());
  std::vector<const Operand*> places;
  for (const Operand& operand : operands) places.push_back(&operand);
  common_device("cat", places);
  return halves_joined(tensors, axis);
}

Tensor Tensor::stack(const std::vector<Tensor>& tensors, std::int64_t axis) {
  const Called called;
  want_tensors("stack", tensors);
  std::vector<Tensor> wider;
  for (const Tensor& tensor : tensors) {
    if (tensor.uop()->shape() != tensors[0].uop()->shape())
      user_error(fmt::format("stack: shapes {} and {} differ", shape_text(tensors[0].uop()),
                             shape_text(tensor.uop())));
    wider.push_back(tensor.unsqueeze(axis));
  }
  return cat(wider, axis);
}

namespace {

template <class F>
std::vector<Tensor> each(std::string_view op, const std::vector<Tensor>& tensors, F form) {
  want_tensors(op, tensors);
  std::vector<Tensor> formed;
  for (const Tensor& tensor : tensors) formed.push_back(form(tensor));
  return formed;
}

// cat() for those names that say the axis.
Tensor joined(std::string_view op, const std::vector<Tensor>& tensors, std::int64_t axis) {
  want_fitting(op, tensors, axis);
  return Tensor::cat(tensors, axis);
}

}  // namespace

Tensor Tensor::hstack(const std::vector<Tensor>& tensors) {
  const Called called;
  const auto parts = each("hstack", tensors, [](const Tensor& x) { return x.atleast_1d(); });
  return joined("hstack", parts, parts[0].ndim() == 1 ? 0 : 1);
}

Tensor Tensor::vstack(const std::vector<Tensor>& tensors) {
  const Called called;
  return joined("vstack", each("vstack", tensors, [](const Tensor& x) { return x.atleast_2d(); }),
                0);
}

Tensor Tensor::dstack(const std::vector<Tensor>& tensors) {
  const Called called;
  return joined("dstack", each("dstack", tensors, [](const Tensor& x) { return x.atleast_3d(); }),
                2);
}

Tensor Tensor::column_stack(const std::vector<Tensor>& tensors) {
  const Called called;
  const auto column = [](const Tensor& x) {
    return x.ndim() < 2 ? x.atleast_1d().unsqueeze(-1) : x;
  };
  return joined("column_stack", each("column_stack", tensors, column), 1);
}

Tensor Tensor::block_diag(const std::vector<Tensor>& blocks) {
  const Called called;
  std::vector<Tensor> rows =
      each("block_diag", blocks, [](const Tensor& x) { return x.atleast_2d(); });
  std::int64_t before = 0, columns = 0;
  for (const Tensor& block : rows) {
    if (block.ndim() != 2)
      user_error(
          fmt::format("block_diag: shape {} has more than two axes", shape_text(block.uop())));
    columns += block.size(1);
  }
  for (Tensor& block : rows) {
    const std::int64_t own = block.size(1);
    block = block.pad({{0, 0}, {before, columns - before - own}});
    before += own;
  }
  return cat(rows);
}

}  // namespace weft
