// Norms of vectors and matrices.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <weft/error.h>

#include "functions.h"
#include "matrix.h"
#include "ops.h"

namespace weft::linalg {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor as_float(const Tensor& x) { return x.cast(float_like(x.dtype())); }

// The two axes as the last ones.
Tensor with_matrices_last(const Tensor& x, const Axes& axes) {
  Axes order;
  for (std::int64_t axis = 0; axis < x.ndim(); ++axis)
    if (std::ranges::find(axes, axis) == axes.end()) order.push_back(axis);
  order.insert(order.end(), axes.begin(), axes.end());
  return x.permute(order);
}

Axes matrix_axes(const Tensor& x, const AxisList& list) {
  Axes axes = axes_of("matrix_norm", list, x.ndim());
  if (axes.size() != 2)
    user_error(fmt::format("matrix_norm: {} axes of a tensor of shape {}: a matrix has two",
                           axes.size(), shape_text(x.uop())));
  return axes;
}

Tensor keeping(const Tensor& reduced, Axes axes, bool keepdim) {
  if (!keepdim) return reduced;
  std::ranges::sort(axes);
  Tensor result = reduced;
  for (std::int64_t axis : axes) result = result.unsqueeze(axis);
  return result;
}

// By what is made of the singular values.
template <class F>
Tensor of_values(const Tensor& x, const Axes& axes, bool keepdim, F reduce) {
  return keeping(reduce(svdvals(with_matrices_last(x, axes))), axes, keepdim);
}

}  // namespace

Tensor vector_norm(const Tensor& x, double ord, const AxisList& axes, bool keepdim) {
  return Called(), x.norm(ord, axes, keepdim);
}

Tensor matrix_norm(const Tensor& x, const std::string& ord, const AxisList& axes, bool keepdim) {
  const Called called;
  const Axes both = matrix_axes(x, axes);
  if (ord == "fro") return vector_norm(x, 2, both, keepdim);
  if (ord == "nuc") return of_values(x, both, keepdim, [](const Tensor& s) { return s.sum(-1); });
  user_error(
      fmt::format("matrix_norm: there is no norm \"{}\": \"fro\" and \"nuc\" have names", ord));
}

Tensor matrix_norm(const Tensor& x, double ord, const AxisList& axes, bool keepdim) {
  const Called called;
  const Axes both = matrix_axes(x, axes);
  const double size = std::abs(ord);
  if (size != 1 && size != 2 && size != infinity)
    user_error(fmt::format(
        "matrix_norm: there is no norm {} of matrices: 1, 2, inf and their negatives", ord));
  const auto extreme = [&](const Tensor& sums, std::int64_t axis, bool keep) {
    return ord > 0 ? sums.max(axis, keep) : sums.min(axis, keep);
  };
  if (size == 2)
    return of_values(x, both, keepdim, [&](const Tensor& s) { return extreme(s, -1, false); });
  const std::int64_t summed = size == 1 ? both[0] : both[1], kept = size == 1 ? both[1] : both[0];
  const Tensor norms = extreme(as_float(x).abs().sum(summed, true), kept, true);
  return keepdim ? norms : norms.squeeze(both);
}

Tensor norm(const Tensor& x, std::optional<double> ord, const AxisList& axes, bool keepdim) {
  const Called called;
  if (!ord) return vector_norm(x, 2, axes, keepdim);
  const Axes chosen = axes_of("norm", axes, x.ndim());
  if (chosen.size() == 2) return matrix_norm(x, *ord, chosen, keepdim);
  if (chosen.size() != 1)
    user_error(
        fmt::format("norm: {} of {} axes of a tensor of shape {}: vectors have one, matrices two",
                    *ord, chosen.size(), shape_text(x.uop())));
  return vector_norm(x, *ord, chosen, keepdim);
}

Tensor norm(const Tensor& x, const std::string& ord, const AxisList& axes, bool keepdim) {
  return Called(), matrix_norm(x, ord, axes, keepdim);
}

Tensor cond(const Tensor& a, double ord) {
  const Called called;
  return widely(a, [&](const Tensor& x) {
    if (std::abs(ord) != 2) return matrix_norm(x, ord) * matrix_norm(inv(x), ord);
    const Tensor s = svdvals(x), most = s.max(-1), least = s.min(-1);
    return ord > 0 ? most / least : least / most;
  });
}

Tensor cond(const Tensor& a, const std::string& ord) {
  const Called called;
  return widely(a, [&](const Tensor& x) { return matrix_norm(x, ord) * matrix_norm(inv(x), ord); });
}

}  // namespace weft::linalg
