// The order of elements: short rows by comparing each with each, long ones by merging sorted blocks.
//
// An element is an integer with its place below it, so that no two are equal. Each element of a merge
// finds by halves how many of those before it come from the first of the two runs: n elements take
// n log^2 n steps, in log n kernels.

#include "order.h"

#include <algorithm>
#include <bit>

#include "functions.h"
#include "places.h"

namespace weft {
namespace {

// Elements that all look at each other.
constexpr std::int64_t most_at_once = 64;

// Signed integers in the order of the elements.
Tensor keys_of(const Tensor& x) {
  const DType own = x.dtype();
  if (own.is_bool()) return x.cast(dtypes::i8);
  if (own.is_float() && own.bits() == 8) return keys_of(x.cast(dtypes::f16));
  const DType dtype = bits_of(own);
  const Tensor bits = own == dtype ? x : x.bitcast(dtype);
  const auto least = static_cast<std::int64_t>(lowest_bits(dtype));
  if (own.is_unsigned()) return bits ^ least;
  if (!own.is_float()) return bits;
  const Tensor rising = (bits < 0).where(bits ^ ~least, bits);
  return x.isnan().where(~least, (x == 0).where(0, rising));
}

Tensor by_rank(const Tensor& keys, std::int64_t count) {
  const Tensor own = keys.unsqueeze(-1), other = keys.unsqueeze(-2);
  const Options here{.device = keys.device()};
  const Tensor place = Tensor::arange(keys.size(-1), here), wanted = Tensor::arange(count, here);
  const Tensor is_earlier = place < place.unsqueeze(-1);
  const Tensor rank = ((other < own) | ((other == own) & is_earlier)).sum(-1, false, dtypes::i32);
  return (rank.unsqueeze(-2) == wanted.unsqueeze(-1)).where(place, 0).sum(-1, false, place.dtype());
}

// Sorted runs two by two, (..., runs, length) to (..., runs / 2, count).
class Merge {
 public:
  Merge(const Tensor& runs, std::int64_t count)
      : runs_(runs.contiguous()), length_(runs.size(-1)), sizes_(sizes_of(runs_.uop())) {
    sizes_.end()[-2] = const_int(runs.size(-2) / 2);
    sizes_.end()[-1] = const_int(count);
  }

  // Element k is behind `first` elements of the first run and k - first of the second.
  Tensor run() const {
    const UOp k = steps(sizes_, sizes_.size() - 1, const_int(0));
    const UOp least = max(k - length(), zero()), most = min(k, length());
    UOp found = zero();
    for (auto step = std::bit_floor(static_cast<std::uint64_t>(length_)); step > 0; step /= 2) {
      const UOp next = found + static_cast<std::int64_t>(step), is_one = next <= most - least;
      const UOp a = read(0, least + next - 1, is_one), b = read(1, most - next, is_one);
      found = where(is_one & (a <= b), next, found);
    }
    const UOp first = least + found, second = most - found;
    const UOp is_first = first < length(), is_second = second < length();
    const UOp a = read(0, first, is_first), b = read(1, second, is_second);
    return result("sort", where(is_second & ((first >= length()) | (b < a)), b, a), {&runs_});
  }

 private:
  UOp zero() const { return const_int(0, dtypes::i32); }
  UOp length() const { return const_int(length_, dtypes::i32); }

  UOp read(std::int64_t which, const UOp& at, const UOp& valid) const {
    Places places;
    places.sizes = sizes_;
    places.valid = valid;
    const std::size_t pair = sizes_.size() - 2;
    for (std::size_t axis = 0; axis < pair; ++axis)
      places.along.push_back(steps(sizes_, axis, const_int(0)));
    places.along.push_back(steps(sizes_, pair, const_int(which), 2));
    places.along.push_back(at);
    return read_at(runs_.uop(), places);
  }

  const Operand runs_;
  const std::int64_t length_;
  Sizes sizes_;
};

Tensor by_merging(const Tensor& keys, std::int64_t count) {
  const std::int64_t n = keys.size(-1);
  const int levels = std::bit_width(static_cast<std::uint64_t>((n - 1) / most_at_once));
  const std::int64_t runs = std::int64_t{1} << levels, length = (n + runs - 1) / runs;
  const int place_bits = std::bit_width(static_cast<std::uint64_t>(runs * length - 1));
  const DType dtype = keys.dtype().bits() + place_bits <= 32 ? dtypes::i32 : dtypes::i64;
  Tensor::Bounds padding(static_cast<std::size_t>(keys.ndim()), {0, 0});
  padding.back().second = runs * length - n;
  const auto most = static_cast<std::int64_t>(highest_bits(keys.dtype()));
  const Tensor blocks = keys.pad(padding, most).unflatten(-1, {runs, length}).contiguous();
  const Tensor within = by_rank(blocks, std::min(length, count));
  const Tensor start = Tensor::arange(0, runs * length, length, {.device = keys.device()});
  const Tensor place = within + start.unsqueeze(-1);
  Tensor sorted = gathered(blocks, -1, within).cast(dtype) << place_bits | place.cast(dtype);
  for (int level = 0; level < levels; ++level)
    sorted = Merge(sorted, std::min(2 * sorted.size(-1), count)).run();
  const std::int64_t places = (std::int64_t{1} << place_bits) - 1;
  return (sorted.squeeze(-2) & places).cast(dtypes::i32);
}

Tensor in_order(const Tensor& keys, std::int64_t count) {
  const std::int64_t n = keys.size(-1);
  if (n <= most_at_once) return by_rank(keys, count);
  if (keys.dtype().bits() <= 32) return by_merging(keys, count);
  // By the lower bits and then, which keeps the order of equal ones, by the upper.
  const Tensor lower = (keys ^ 0x80000000).cast(dtypes::i32),
               upper = (keys >> 32).cast(dtypes::i32);
  const Tensor first = by_merging(lower, n).contiguous();
  return gathered(first, -1, by_merging(gathered(upper, -1, first), count));
}

}  // namespace

Tensor order_of(const Tensor& x, bool descending, std::int64_t count) {
  std::vector<Dim> dims = x.dims();
  dims.back() = Dim(count);
  if (std::ranges::any_of(dims, [](const Dim& d) { return d.uop()->is_const_int(0); }))
    return Tensor::zeros(Shape(dims), {.dtype = dtypes::i32, .device = x.device()});
  const Tensor keys = keys_of(x.detach());
  return in_order(descending ? ~keys : keys, count);
}

Tensor is_begin(const Tensor& x) {
  const Tensor place = Tensor::arange(x.size(-1), {.device = x.device()});
  return (place == 0) | (x != x.roll(1, -1));
}

Rows::Rows(std::string_view op, const Tensor& tensor, std::int64_t axis)
    : is_scalar_(tensor.ndim() == 0), x_(is_scalar_ ? tensor.unsqueeze(0) : tensor) {
  axis_ = axis_of(op, axis, x_.ndim()) - x_.ndim();
  x_ = x_.transpose(axis_, -1);
  constant_size(op, UOp(x_.uop()->dims().back()));
}

Tensor Rows::back(const Tensor& made) const {
  return is_scalar_ ? made.squeeze(-1) : made.transpose(axis_, -1);
}

Tensor Rows::reduced(const Tensor& made, bool keepdim) const {
  const Tensor whole = made.transpose(axis_, -1);
  return keepdim && !is_scalar_ ? whole : whole.squeeze(axis_);
}

}  // namespace weft
