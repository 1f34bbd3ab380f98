// Reductions backwards.

#include <algorithm>
#include <bit>

#include <fmt/core.h>
#include <weft/dev/ir/movement.h>
#include <weft/error.h>

#include "rules.h"

namespace weft {
namespace {

const Axes& axes_of(const UOp& reduce) { return reduce->arg<ReduceArg>().axes.get(); }

UOp of_sum(const GradientStep& step) { return expand(step.g, sizes_of(step.a)); }

// Equal parts for all elements that are the maximum; with NaN all are. Their number may be too large
// for few bits.
UOp of_maximum(const GradientStep& step) {
  const Sizes sizes = sizes_of(step.a);
  const DType dtype = step.g->dtype(), wide = promote(dtype, dtypes::f32);
  const UOp is_maximum = !(step.a < expand(step.y, sizes));
  const UOp count = reduce(Op::Add, cast(is_maximum, wide), axes_of(step.y));
  const UOp part = cast(cast(step.g, wide) / count, dtype);
  return where(is_maximum, expand(part, sizes), const_int(0, dtype));
}

// The reduced axes of a tensor as one row, the last axis, filled up with ones to a power of two.
class Rows {
 public:
  Rows(const UOp& tensor, const Axes& reduced) {
    const NodeList dims = tensor->dims();
    for (std::int64_t axis = 0; axis < std::ssize(dims); ++axis) {
      if (std::ranges::find(reduced, axis) != reduced.end()) continue;
      order_.push_back(axis);
      kept_.emplace_back(dims[static_cast<std::size_t>(axis)]);
    }
    UOp count = const_int(1);
    for (std::int64_t axis : reduced) {
      order_.push_back(axis);
      count = count * cast(UOp(dims[static_cast<std::size_t>(axis)]), dtypes::index);
    }
    count_ = folded(count);
    length_ = std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(count_->hi(), 1)));
    const UOp moved = permute(tensor, order_);
    moved_ = sizes_of(moved);
    values_ = filled_up(reshape(moved, with({count_})));
  }

  const UOp& values() const { return values_; }
  std::uint64_t length() const { return length_; }
  std::int64_t axis() const { return std::ssize(kept_); }

  // The kept sizes, and these.
  Sizes with(std::initializer_list<UOp> more) const {
    Sizes sizes = kept_;
    sizes.insert(sizes.end(), more);
    return sizes;
  }
  Sizes with_row(std::uint64_t size) const { return with({literal(size)}); }
  Sizes with_pairs(std::uint64_t count, std::int64_t members) const {
    return with({literal(count), const_int(members)});
  }

  // From rows back to the tensor's own shape.
  UOp restore(const UOp& rows) const {
    const UOp used = shrink(rows, Sizes(kept_.size() + 1, const_int(0)), with({count_}));
    return undo_permute(reshape(used, moved_), order_);
  }

 private:
  static UOp literal(std::uint64_t size) { return const_int(static_cast<std::int64_t>(size)); }

  UOp filled_up(const UOp& rows) const {
    const Sizes none(kept_.size() + 1, const_int(0));
    Sizes missing = none;
    missing.back() = folded(literal(length_) - count_);
    const UOp padded = pad(rows, none, missing);
    if (padded.is(rows)) return rows;
    const UOp is_value = pad(filled(const_bool(true), sizes_of(rows)), none, missing);
    return reshape(where(is_value, padded, const_int(1, rows->dtype())), with_row(length_));
  }

  Axes order_;
  Sizes kept_, moved_;
  UOp count_, values_;
  std::uint64_t length_ = 1;
};

// The product of the others for each element. Dividing the whole by the element would fail at
// zeros, and in further derivatives wherever one is. So products of pairs go up a binary tree and
// gradients come down it: each member of a pair gets the other times the pair's gradient. Linear in
// the number of elements.
UOp of_product(const GradientStep& step) {
  const Rows rows(step.a, axes_of(step.y));
  const std::int64_t member = rows.axis() + 1;
  std::vector<UOp> levels;
  UOp products = rows.values();
  for (std::uint64_t pairs = rows.length() / 2; pairs > 0; pairs /= 2) {
    levels.push_back(reshape(products, rows.with_pairs(pairs, 2)));
    products = reshape(reduce(Op::Mul, levels.back(), {member}), rows.with_row(pairs));
  }
  UOp g = reshape(step.g, rows.with_row(1));
  std::uint64_t pairs = 1;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level, pairs *= 2) {
    g = expand(reshape(g, rows.with_pairs(pairs, 1)), rows.with_pairs(pairs, 2));
    g = reshape(g * flip(*level, {member}), rows.with_row(pairs * 2));
  }
  return rows.restore(g);
}

}  // namespace

Gradients of_reduce(const GradientStep& step) {
  switch (step.y->arg<ReduceArg>().op) {
    case Op::Add: return {of_sum(step)};
    case Op::Max: return {of_maximum(step)};
    case Op::Mul: return {of_product(step)};
    default: internal_error("a reduction by an op other than add, max and mul");
  }
}

// Every device's part goes into the sum.
Gradients of_allreduce(const GradientStep& step) {
  const Op op = step.y->arg<ReduceArg>().op;
  if (op != Op::Add)
    user_error(fmt::format("gradient: allreduce by {} has none, only by add", info(op).name));
  return {of_sum(step)};
}

}  // namespace weft
