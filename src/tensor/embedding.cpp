// Rows of tables, one by one and in bags.

#include <fmt/format.h>
#include <weft/error.h>
#include <weft/functional.h>

#include "functions.h"
#include "largest.h"
#include "within.h"

namespace weft::functional {
namespace {

std::optional<std::int64_t> row_of(const char* op, std::optional<std::int64_t> row,
                                   const Tensor& weight) {
  if (weight.ndim() != 2)
    user_error(
        fmt::format("{}: a weight of shape {} is not (rows, width)", op, shape_text(weight.uop())));
  if (!row) return {};
  const std::int64_t rows = weight.size(0);
  if (*row < -rows || *row >= rows)
    user_error(fmt::format("{}: there is no row {} for padding in a weight of shape {}", op, *row,
                           shape_text(weight.uop())));
  return *row < 0 ? *row + rows : *row;
}

// What the rows of one bag come to, along axis 1 of (bags, rows, width); some do not count.
Tensor reduced(const Tensor& rows, const Tensor& counts, Bag mode) {
  if (mode == Bag::Max) {
    if (rows.size(1) == 0) return rows.sum(1);
    constexpr double least = -std::numeric_limits<double>::infinity();
    const Tensor behind = Tensor::arange(rows.size(1), 0, -1, {.device = rows.device()});
    const Tensor most =
        largest(counts.where(rows, least), counts.where(behind.unsqueeze(-1), 0), 1);
    return counts.any(1, true).where(most, 0).squeeze(1);
  }
  const Tensor counted = counts.where(rows, 0);
  if (mode == Bag::Sum) return counted.sum(1);
  return widely(counted, [&](const Tensor& x) {
    return x.sum(1) / counts.sum(1, false, dtypes::i32).maximum(1).cast(x.dtype());
  });
}

// Whether row i lies in bag b: (bags, rows).
Tensor members(const Tensor& offsets, const Tensor& index, bool includes_end) {
  const std::int64_t rows = index.size(0), bags = offsets.size(0) - (includes_end ? 1 : 0);
  const Tensor row = Tensor::arange(rows, {.device = index.device()});
  const Tensor begin = offsets.slice(0, {.stop = bags}).unsqueeze(1);
  const Tensor next = offsets.slice(0, {.start = 1});
  Tensor end = next.unsqueeze(1);
  if (!includes_end) {
    const Tensor last =
        Tensor::full({1}, rows, {.dtype = offsets.dtype(), .device = offsets.device()});
    end = Tensor::cat({next, last}).unsqueeze(1);
  }
  return (row >= begin) & (row < end);
}

// The sums of what lies in each bag, by adding every row to that of its bag, where few bits would soon stop.
Tensor summed(const Tensor& rows, const Tensor& is_member) {
  const std::int64_t bags = is_member.size(0);
  const Tensor number = Tensor::arange(bags, {.device = rows.device()}).unsqueeze(1);
  const Tensor bag = bags - is_member.where(bags - number, 0).max(0);  // `bags` is in none
  std::vector<Dim> sizes = rows.dims();
  sizes[0] = Dim(bags);
  const DType wide = promote(rows.dtype(), dtypes::f32);
  const Tensor place = Tensor::zeros(Shape(sizes), {.dtype = wide, .device = rows.device()});
  const Unchecked some_are_outside;
  return place.take(bag).gradient({place}, rows.cast(wide))[0];
}

void want_options(const Tensor& index, const EmbeddingBagOptions& options) {
  const bool has_offsets = !options.offsets.is_null();
  if (index.ndim() != (has_offsets ? 1 : 2))
    user_error(
        fmt::format("embedding_bag: an index of shape {}: it is (bags, rows), or (rows) with "
                    "offsets",
                    shape_text(index.uop())));
  if (has_offsets && (options.offsets.ndim() != 1 || !options.offsets.dtype().is_int()))
    user_error(
        fmt::format("embedding_bag: offsets of {} and shape {} are not integers along one axis",
                    options.offsets.dtype().str(), shape_text(options.offsets.uop())));
  if (has_offsets && options.offsets.size(0) < (options.include_last_offset ? 1 : 0))
    user_error("embedding_bag: the offsets have no last one to be included");
  const Tensor& weights = options.per_sample_weights;
  if (!weights.is_null() && (options.mode != Bag::Sum || weights.shape() != index.shape()))
    user_error(
        fmt::format("embedding_bag: per_sample_weights of shape {} are for sums of an index "
                    "of the same shape, not {}",
                    shape_text(weights.uop()), shape_text(index.uop())));
}

}  // namespace

Tensor embedding(const Tensor& index, const Tensor& weight,
                 std::optional<std::int64_t> padding_idx) {
  const Called called;
  const auto padding = row_of("embedding", padding_idx, weight);
  const Tensor rows = weight.take(index);
  return padding ? (index == *padding).unsqueeze(-1).where(rows.detach(), rows) : rows;
}

Tensor embedding_bag(const Tensor& index, const Tensor& weight,
                     const EmbeddingBagOptions& options) {
  const Called called;
  const auto padding = row_of("embedding_bag", options.padding_idx, weight);
  want_options(index, options);
  Tensor rows = weight.take(index);
  if (!options.per_sample_weights.is_null()) rows = rows * options.per_sample_weights.unsqueeze(-1);
  const Tensor counts = (padding ? index != *padding : index == index).unsqueeze(-1);
  if (options.offsets.is_null()) return reduced(rows, counts, options.mode);
  const Tensor is_member = members(options.offsets, index, options.include_last_offset);
  if (options.mode == Bag::Max)
    return reduced(rows.unsqueeze(0), is_member.unsqueeze(-1) & counts, Bag::Max);
  const Tensor sum = summed(counts.where(rows, 0), is_member);
  if (options.mode == Bag::Sum) return sum.cast(rows.dtype());
  const Tensor size = (is_member & counts.squeeze(-1)).sum(1, true, dtypes::i32);
  return (sum / size.maximum(1).cast(sum.dtype())).cast(rows.dtype());
}

}  // namespace weft::functional
