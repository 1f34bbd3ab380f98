// Running sums, products and extremes along an axis: of each element and all before it a reduction, which
// takes n steps for n elements, since a loop hands on what it has come to (docs/kernels.md).
//
// A logarithm of sums is no such reduction: its exponents change from element to element. So a long axis is
// cut into blocks there. An element comes to what it and those before it in its block come to, joined with
// what all earlier blocks do, which is a scan over blocks.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <weft/error.h>

#include "functions.h"
#include "windows.h"

namespace weft {
namespace {

struct Scan {
  Tensor (*fold)(const Tensor& rows);  // over the last axis
  Tensor (*join)(const Tensor& a, const Tensor& b);
  Scalar identity;
  bool is_plain = true;  // the fold is one reduction
};

constexpr std::int64_t most_in_all = std::int64_t{1} << 30;  // whose square counts elements
constexpr std::int64_t most_at_once = 512;                   // elements that all look at each other
constexpr std::int64_t most_blocks = 8192;  // the same, of blocks: a kernel more takes longer
constexpr std::uint64_t longest_block = 128;

// n*b for the elements and (n/b)^2 for the blocks are least together for b^3 = 2n.
std::int64_t block_for(std::int64_t count) {
  const auto best = static_cast<std::uint64_t>(std::cbrt(2.0 * static_cast<double>(count)));
  return static_cast<std::int64_t>(std::min(std::bit_ceil(best), longest_block));
}

Tensor::Bounds all_but_last(const Tensor& x) {
  const std::vector<Dim> dims = x.dims();
  Tensor::Bounds bounds;
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) bounds.emplace_back(0, dims[i]);
  return bounds;
}

Tensor padded_last(const Tensor& x, std::int64_t before, std::int64_t after, Scalar value) {
  Tensor::Bounds bounds(static_cast<std::size_t>(x.ndim()), {0, 0});
  bounds.back() = {before, after};
  return x.pad(bounds, value);
}

Tensor first_of_last(const Tensor& x, std::int64_t count) {
  Tensor::Bounds bounds = all_but_last(x);
  bounds.emplace_back(0, count);
  return x.shrink(bounds);
}

// Each element with those before it: of n times itself, the part on and below the diagonal. That is where
// windows over n ones behind n - 1 zeros, which take one more in each row, see ones.
Tensor at_once(const Tensor& x, const Scan& scan) {
  const std::int64_t count = x.size(-1);
  const Tensor ones = Tensor::full({count}, true, {.device = x.device()}).pad({{count - 1, 0}});
  const Tensor seen = windows(ones, {"scan", {count}, 1, 1, 0}).flip(-1);
  const Tensor all = x.unsqueeze(-2);
  return scan.fold(seen.where(all, Operand(scan.identity.as(x.dtype()), {}, false)));
}

Tensor scanned(const Tensor& x, const Scan& scan, std::int64_t most = most_at_once) {
  const std::int64_t count = x.size(-1);
  if (count <= (scan.is_plain ? most_in_all : most)) return at_once(x, scan);
  const std::int64_t block = block_for(count), blocks = (count + block - 1) / block;
  const Tensor rows =
      padded_last(x, 0, blocks * block - count, scan.identity).unflatten(-1, {blocks, block});
  const Tensor totals = first_of_last(scan.fold(rows), blocks - 1);
  const Tensor before = scanned(padded_last(totals, 1, 0, scan.identity), scan, most_blocks);
  const Tensor joined = scan.join(at_once(rows, scan), before.unsqueeze(-1));
  return first_of_last(joined.flatten(-2), count);
}

// f() of the tensor with this axis last; of no elements, they themselves.
template <class F>
Tensor along(std::string_view op, const Tensor& x, std::int64_t axis, F f) {
  if (x.ndim() == 0) {
    axis_of(op, axis, 1);
    return f(x.unsqueeze(0)).squeeze(0);
  }
  axis = axis_of(op, axis, x.ndim());
  constant_size(op, UOp(x.uop()->dims()[static_cast<std::size_t>(axis)]));
  if (std::ranges::any_of(x.dims(), [](const Dim& d) { return d.uop()->is_const_int(0); }))
    return x;
  return f(x.transpose(axis, -1)).transpose(axis, -1);
}

Tensor scan_along(std::string_view op, const Tensor& x, std::int64_t axis, const Scan& scan) {
  return along(op, x, axis, [&](const Tensor& rows) { return scanned(rows, scan); });
}

// In the dtype that sums and products are taken in, and back for floats.
Tensor accumulated(std::string_view op, const Tensor& x, std::int64_t axis, const Scan& scan,
                   DType wanted) {
  const SumTypes types = sum_types(x.dtype(), wanted);
  const Tensor terms = x.cast(types.terms).cast(types.within);
  return scan_along(op, terms, axis, scan).cast(types.result);
}

const Scan sums{[](const Tensor& x) { return x.sum(-1, false, x.dtype()); },
                [](const Tensor& a, const Tensor& b) { return a + b; }, 0};
const Scan products{[](const Tensor& x) { return x.prod(-1, false, x.dtype()); },
                    [](const Tensor& a, const Tensor& b) { return a * b; }, 1};
const Scan exponentials{[](const Tensor& x) { return x.logsumexp(-1); },
                        [](const Tensor& a, const Tensor& b) { return a.logaddexp(b); },
                        -std::numeric_limits<double>::infinity(), false};

Scan largest_of(DType dtype) {
  return {[](const Tensor& x) -> Tensor { return x.max(-1); },
          [](const Tensor& a, const Tensor& b) { return a.maximum(b); }, lowest(dtype)};
}

// From each element to the last.
Tensor sum_backwards(const Tensor& x, std::int64_t axis) {
  return x.flip(axis).cumsum(axis).flip(axis);
}

// An element that is 0 has no quotient, but only the first has a gradient: that of the products with 1 in
// its place. Behind it all products are 0.
Tensor product_slope(const Tensor& g, const Tensor& x, const Tensor& y, std::int64_t axis) {
  const Tensor is_zero = x == 0, is_first = is_zero & (is_zero.cumsum(axis, dtypes::i32) == 1);
  const Tensor others = is_first.where(1, x).cumprod(axis);
  const Tensor quotient = sum_backwards(g * y, axis) / is_zero.where(1, x);
  return is_first.where(sum_backwards(g * others, axis), is_zero.where(0, quotient));
}

// The last place so far that nothing before it is larger than; every NaN is such a place.
Tensor places_of(const Tensor& rows, const Tensor& most) {
  const Tensor at = Tensor::arange(rows.size(-1), {.device = rows.device()});
  const Tensor is_place = (rows == most) | rows.isnan();
  return scanned(is_place.where(at, 0), largest_of(dtypes::i32));
}

// The element at that place has the gradient, as PyTorch has it.
Tensor largest_so_far(const Tensor& rows) {
  return Tensor::custom(
      {rows},
      [](const std::vector<Tensor>& in) { return scanned(in[0], largest_of(in[0].dtype())); },
      [](const Tensor& g, const std::vector<Tensor>& in, const Tensor& y) {
        return std::vector<Tensor>{g.zeros_like().scatter_add(-1, places_of(in[0], y), g)};
      });
}

std::pair<Tensor, Tensor> with_places(std::string_view op, const Tensor& x, std::int64_t axis) {
  const DType own = x.dtype();
  const Tensor wide = own.is_bool() ? x.cast(dtypes::u8) : x;
  const Tensor values = along(op, wide, axis, largest_so_far);
  const Tensor places = along(
      op, wide, axis, [](const Tensor& rows) { return places_of(rows, largest_so_far(rows)); });
  return {values.cast(own), places.cast(dtypes::i32)};
}

}  // namespace

Tensor Tensor::cumsum(std::int64_t axis, DType dtype) const {
  return Called(), accumulated("cumsum", *this, axis, sums, dtype);
}

Tensor Tensor::cumprod(std::int64_t axis, DType dtype) const {
  const Called called;
  const DType own = dtype.is_void() ? this->dtype() : dtype;
  if (!own.is_float()) return accumulated("cumprod", *this, axis, products, dtype);
  if (!dtype.is_void() && dtype != this->dtype()) return cast(dtype).cumprod(axis);
  if (ndim() == 0)
    return along("cumprod", *this, axis, [](const Tensor& x) { return x.cumprod(0); });
  return widely(*this, [&](const Tensor& wide) {
    return custom(
        {wide}, [&](const auto& in) { return scan_along("cumprod", in[0], axis, products); },
        [axis](const Tensor& g, const auto& in, const Tensor& y) {
          return std::vector<Tensor>{product_slope(g, in[0], y, axis)};
        });
  });
}

Tensor Tensor::logcumsumexp(std::int64_t axis) const {
  const Called called;
  return widely(*this,
                [&](const Tensor& x) { return scan_along("logcumsumexp", x, axis, exponentials); });
}

std::pair<Tensor, Tensor> Tensor::cummax(std::int64_t axis) const {
  return Called(), with_places("cummax", *this, axis);
}

std::pair<Tensor, Tensor> Tensor::cummin(std::int64_t axis) const {
  const Called called;
  const auto turned = [](const Tensor& x) { return x.dtype().is_float() ? -x : ~x; };
  const auto [values, places] = with_places("cummin", turned(*this), axis);
  return {turned(values), places};
}

Tensor Tensor::diff(std::int64_t times, std::int64_t axis, const Tensor& prepend,
                    const Tensor& append) const {
  const Called called;
  if (times < 0) user_error(fmt::format("diff: {} times: want at least 0", times));
  axis = axis_of("diff", axis, ndim());
  std::vector<Tensor> parts;
  for (const Tensor& part : {prepend, *this, append})
    if (!part.is_null()) parts.push_back(part);
  Tensor x = parts.size() == 1 ? parts[0] : cat(parts, axis);
  for (; times > 0 && x.size(axis) > 0; --times) {
    const Tensor next = x.slice(axis, {.start = 1}), last = x.slice(axis, {.stop = -1});
    x = x.dtype().is_bool() ? next ^ last : next - last;
  }
  return x;
}

}  // namespace weft
