// Sorted along an axis, and the first of what is sorted.

#include <fmt/format.h>
#include <weft/error.h>

#include "order.h"
#include "places.h"

namespace weft {
namespace {

Tensor::Selected first_of(const Rows& rows, bool descending, std::int64_t count) {
  const Tensor order = order_of(rows.x(), descending, count);
  return {rows.back(gathered(rows.x(), -1, order)), rows.back(order)};
}

}  // namespace

Tensor::Selected Tensor::sort(std::int64_t axis, bool descending) const {
  const Called called;
  const Rows rows("sort", *this, axis);
  return first_of(rows, descending, rows.length());
}

Tensor Tensor::argsort(std::int64_t axis, bool descending) const {
  const Called called;
  const Rows rows("argsort", *this, axis);
  return rows.back(order_of(rows.x(), descending, rows.length()));
}

Tensor Tensor::msort() const { return Called(), sort(0).values; }

Tensor::Selected Tensor::topk(std::int64_t k, std::int64_t axis, bool largest,
                              bool /*sorted*/) const {
  const Called called;
  const Rows rows("topk", *this, axis);
  if (k < 0 || k > rows.length())
    user_error(fmt::format("topk: there are {} elements along axis {} of shape {}, not {}",
                           rows.length(), axis, shape_text(uop()), k));
  return first_of(rows, largest, k);
}

}  // namespace weft
