// Reductions over axes, places of extremes, running sums, and the largest of all.

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "arguments.h"
#include "tables.h"

namespace weft::onnx {
namespace {

// --- Over axes --------------------------------------------------------------------------------------------

using Reduced = Tensor (*)(const Tensor& x, const AxisList& axes, bool keepdim);

// No axes are all of them, unless the node says that these are none.
template <Reduced F>
Tensor reduce(const Call& call) {
  const Tensor x = call.tensor(0);
  const auto given = ints_of(call, "axes", 1);
  const bool is_all = (!given || given->empty()) && call.attr("noop_with_empty_axes", 0) == 0;
  const bool keepdim = call.attr("keepdims", 1) != 0;
  if (is_all) return F(x, {}, keepdim).cast(x.dtype());
  const auto axes = given ? axes_of(call, *given, x.ndim()) : std::vector<std::int64_t>();
  return F(x, axes, keepdim).cast(x.dtype());
}

// Integers keep their dtype, in which they wrap around.
DType dtype_of_sum(const Tensor& x) { return x.dtype().is_float() ? DType() : x.dtype(); }
Tensor sum(const Tensor& x, const AxisList& axes, bool keepdim) {
  return x.sum(axes, keepdim, dtype_of_sum(x));
}
Tensor prod(const Tensor& x, const AxisList& axes, bool keepdim) {
  return x.prod(axes, keepdim, dtype_of_sum(x));
}
Tensor mean(const Tensor& x, const AxisList& axes, bool keepdim) { return x.mean(axes, keepdim); }
Tensor l1(const Tensor& x, const AxisList& axes, bool keepdim) {
  return sum(x.abs(), axes, keepdim);
}
Tensor sum_square(const Tensor& x, const AxisList& axes, bool keepdim) {
  return sum(x * x, axes, keepdim);
}
Tensor l2(const Tensor& x, const AxisList& axes, bool keepdim) {
  return sum_square(x, axes, keepdim).sqrt();
}
Tensor log_sum(const Tensor& x, const AxisList& axes, bool keepdim) {
  return sum(x, axes, keepdim).log();
}

bool is_empty(const Tensor& x) {
  return std::ranges::any_of(x.dims(), [](const Dim& size) { return size.uop()->is_const_int(0); });
}

// The least element of all of a dtype, and the largest.
Tensor extremes_of(DType dtype, const std::string& device) {
  if (dtype.is_float()) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return Tensor(std::vector<double>{-infinity, infinity}, {.device = device}).cast(dtype);
  }
  if (dtype.is_bool()) return Tensor(std::vector<bool>{false, true}, {.device = device});
  const int bits = dtype.bits();
  if (dtype.is_unsigned()) {
    const std::vector<std::uint64_t> ends{0, ~std::uint64_t{0} >> (64 - bits)};
    return Tensor(ends, {.device = device}).cast(dtype);
  }
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (64 - bits);
  return Tensor(std::vector<std::int64_t>{-most - 1, most}, {.device = device}).cast(dtype);
}

// Of nothing there is no extreme: what every element would replace.
Tensor of_nothing(const Tensor& x, const AxisList& axes, bool keepdim, std::int64_t which) {
  const Tensor shaped = x.sum(axes, keepdim, dtypes::i32);
  return extremes_of(x.dtype(), x.device()).select(0, which).expand(shaped.dims());
}

Tensor max(const Tensor& x, const AxisList& axes, bool keepdim) {
  return is_empty(x) ? of_nothing(x, axes, keepdim, 0) : x.max(axes, keepdim);
}
Tensor min(const Tensor& x, const AxisList& axes, bool keepdim) {
  return is_empty(x) ? of_nothing(x, axes, keepdim, 1) : x.min(axes, keepdim);
}
Tensor log_sum_exp(const Tensor& x, const AxisList& axes, bool keepdim) {
  return is_empty(x) ? log_sum(x, axes, keepdim) : x.logsumexp(axes, keepdim);
}

// --- Places of extremes -------------------------------------------------------------------------------------

using Place = Tensor (Tensor::*)(std::optional<std::int64_t>, bool) const;

template <Place Method>
Tensor place(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = axis_of(call, call.attr("axis", 0), x.ndim());
  const bool keepdim = call.attr("keepdims", 1) != 0;
  if (call.attr("select_last_index", 0) == 0) return (x.*Method)(axis, keepdim).cast(dtypes::i64);
  return x.size(axis) - 1 - (x.flip(axis).*Method)(axis, keepdim).cast(dtypes::i64);
}

Values largest(const Call& call, std::int64_t count, bool is_largest, bool is_sorted) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = axis_of(call, call.attr("axis", -1), x.ndim());
  if (count < 0 || count > x.size(axis))
    call.refuse(fmt::format("the first {} of {} elements", count, x.size(axis)));
  const Tensor::Selected first = x.topk(count, axis, is_largest, is_sorted);
  return {first.values, first.indices.cast(dtypes::i64)};
}

Values top_k_by_attribute(const Call& call) {
  return largest(call, call.attr<std::int64_t>("k"), true, true);
}

Values top_k(const Call& call) {
  return largest(call, call.integer(1), call.attr("largest", 1) != 0, call.attr("sorted", 1) != 0);
}

// --- Running sums and products ------------------------------------------------------------------------------

// Those before each element alone begin with what changes nothing.
template <Tensor (Tensor::*Method)(std::int64_t, DType) const>
Tensor scan(const Call& call, int neutral) {
  const Tensor given = call.tensor(0);
  const std::int64_t axis = axis_of(call, call.integer(1), given.ndim());
  const bool is_reverse = call.attr("reverse", 0) != 0;
  const Tensor x = is_reverse ? given.flip(axis) : given;
  Tensor all = (x.*Method)(axis, dtype_of_sum(x));
  if (call.attr("exclusive", 0) != 0 && x.size(axis) > 0) {
    Tensor::Bounds bounds(static_cast<std::size_t>(x.ndim()), {0, 0});
    bounds[static_cast<std::size_t>(axis)] = {1, -1};
    all = all.pad(bounds, neutral);
  }
  return is_reverse ? all.flip(axis) : all;
}

Tensor cumulative_sum(const Call& call) { return scan<&Tensor::cumsum>(call, 0); }
Tensor cumulative_product(const Call& call) { return scan<&Tensor::cumprod>(call, 1); }

}  // namespace

OpTable reduction_ops() {
  static const Op ops[] = {
      {"ArgMax", 1, place<&Tensor::argmax>}, {"ArgMin", 1, place<&Tensor::argmin>},
      {"CumProd", 26, cumulative_product},   {"CumSum", 11, cumulative_sum},
      {"ReduceL1", 1, reduce<l1>},           {"ReduceL2", 1, reduce<l2>},
      {"ReduceLogSum", 1, reduce<log_sum>},  {"ReduceLogSumExp", 1, reduce<log_sum_exp>},
      {"ReduceMax", 1, reduce<max>},         {"ReduceMean", 1, reduce<mean>},
      {"ReduceMin", 1, reduce<min>},         {"ReduceProd", 1, reduce<prod>},
      {"ReduceSum", 1, reduce<sum>},         {"ReduceSumSquare", 1, reduce<sum_square>},
      {"TopK", 1, top_k_by_attribute},       {"TopK", 10, top_k},
  };
  return {"", ops};
}

}  // namespace weft::onnx
