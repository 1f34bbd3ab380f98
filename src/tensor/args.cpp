// What stands for arguments: numbers, sizes, indices.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/tensor.h>
#include <weft/window_args.h>

#include "ops.h"
#include "slices.h"

namespace weft {

double Scalar::as_double() const {
  if (literal_ == dtypes::u64) return static_cast<double>(static_cast<std::uint64_t>(integer_));
  return literal_.is_float() ? real_ : static_cast<double>(integer_);
}

UOp Scalar::as(DType dtype) const {
  if (literal_.is_index()) want_value(dtype, integer_);
  if (!literal_.is_float())
    return const_bits(dtype, convert(static_cast<Bits>(integer_),
                                     literal_ == dtypes::u64 ? literal_ : dtypes::i64, dtype));
  return const_bits(dtype, convert(bits_from_double(real_, dtypes::f64), dtypes::f64, dtype));
}

Dim::Dim(UOp size) : size_(std::move(size)) {
  if (size_.is_null() || !size_->dtype().is_int() || size_->shape() != nullptr)
    user_error("a size is an integer, or an integer expression of variables");
  if (size_->op() == Op::Bind || size_->op() == Op::Variable) return;
  if (const auto [lo, hi] = size_->bounds(); lo == hi) size_ = const_int(size_->lo());
}

Index::Index(const weft::Tensor& places)
    : form_(Form::Tensor), tensor_(std::make_shared<const weft::Tensor>(places)) {}

bool is_symbolic(const Slice& slice, const Dim& size) {
  const bool is_open = (slice.start && slice.start->is_symbolic()) ||
                       (slice.stop && slice.stop->is_symbolic()) || size.is_symbolic();
  if (is_open && slice.step != 1)
    user_error(
        fmt::format("slice: a step of {} needs bounds and a size that are numbers", slice.step));
  return is_open;
}

Steps steps_of(const Slice& slice, std::int64_t size) {
  if (slice.step == 0) user_error("slice: the step is 0: want another number");
  const std::int64_t width = slice.step < 0 ? -slice.step : slice.step;
  // Between the first and the last place that the direction allows, one past the end included.
  const std::int64_t least = slice.step < 0 ? -1 : 0, most = slice.step < 0 ? size - 1 : size;
  const auto place = [&](const std::optional<Dim>& bound, std::int64_t otherwise) {
    if (!bound) return otherwise;
    const std::int64_t at = bound->uop()->lo();
    return std::clamp(at < 0 ? at + size : at, least, most);
  };
  const std::int64_t start = place(slice.start, slice.step < 0 ? most : least);
  const std::int64_t stop = place(slice.stop, slice.step < 0 ? least : most);
  const std::int64_t distance = slice.step < 0 ? start - stop : stop - start;
  const std::int64_t count = distance > 0 ? (distance - 1) / width + 1 : 0;
  const bool turned = slice.step < 0 && count > 0;
  return {turned ? start - (count - 1) * width : start, count, slice.step};
}

std::vector<std::int64_t> PerDim::of(std::size_t dims, const char* op) const {
  if (values_.size() == 1) return std::vector<std::int64_t>(dims, values_[0]);
  if (values_.size() != dims)
    user_error(fmt::format("{}: {} numbers for {} spatial dimensions", op, values_.size(), dims));
  return values_;
}

Padding::Padding(const std::vector<std::int64_t>& each) {
  for (std::int64_t width : each) sides_.emplace_back(width, width);
}

std::vector<Padding::Sides> Padding::of(const char* op, const std::vector<std::int64_t>& kernel,
                                        const std::vector<std::int64_t>& stride,
                                        const std::vector<std::int64_t>& dilation) const {
  std::vector<Sides> sides(kernel.size());
  if (name_ == "same") {
    if (std::ranges::any_of(stride, [](std::int64_t step) { return step != 1; }))
      user_error(fmt::format("{}: padding \"same\" is for a stride of 1, not ({})", op,
                             fmt::join(stride, ", ")));
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const std::int64_t total = dilation[i] * (kernel[i] - 1);
      sides[i] = {total / 2, total - total / 2};
    }
  } else if (!name_.empty()) {
    if (name_ != "valid")
      user_error(fmt::format("{}: padding \"{}\" is neither \"same\" nor \"valid\"", op, name_));
  } else if (sides_.size() == 1) {
    sides.assign(kernel.size(), sides_[0]);
  } else if (sides_.size() != kernel.size()) {
    user_error(fmt::format("{}: padding of {} dimensions for {} spatial dimensions", op,
                           sides_.size(), kernel.size()));
  } else {
    sides = sides_;
  }
  return sides;
}

}  // namespace weft
