// What factorisations are for: linear equations, inverses, determinants, ranks.

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <weft/error.h>

#include "matrix.h"
#include "ops.h"

namespace weft {
namespace {

Tensor upper_inverse(const Tensor& a) { return turned(triangular_inverse(turned(a), false)); }

Tensor inverse_of(const Packed& f) {
  return upper_inverse(f.lu).matmul(triangular_inverse(f.lu, true).matmul(f.p));
}

// The sign and the logarithm of the size of each determinant, side by side along a new last axis.
Tensor sign_and_log(const Tensor& a) {
  const Packed f = eliminated(a);
  const Tensor pivots = diagonal_of(f.lu);
  return Tensor::stack({f.sign * pivots.sign().prod(-1), pivots.abs().log().sum(-1)}, -1);
}

Tensor solution(const Tensor& a, const Tensor& b) {
  const auto forward = [](const std::vector<Tensor>& in) {
    const Packed f = eliminated(in[0]);
    return upper_inverse(f.lu).matmul(triangular_inverse(f.lu, true).matmul(f.p.matmul(in[1])));
  };
  const auto backward = [](const Tensor& gradient, const std::vector<Tensor>& in, const Tensor& x) {
    const Tensor of_b = solution(turned(in[0]), gradient);
    return std::vector<Tensor>{-of_b.matmul(turned(x)), of_b};
  };
  return Tensor::custom({a, b}, forward, backward);
}

// 1 for each singular value that counts, in the dtype of these.
Tensor counted_values(const Tensor& s, const Tensor& a, const linalg::Tolerance& tolerance) {
  const bool is_wide = s.dtype() == dtypes::f64;
  const double eps = is_wide ? std::numeric_limits<double>::epsilon()
                             : static_cast<double>(std::numeric_limits<float>::epsilon());
  const double usual =
      tolerance.atol ? 0 : static_cast<double>(std::max(a.size(-2), a.size(-1))) * eps;
  const Tensor relative = s.max(-1, true) * tolerance.rtol.value_or(usual);
  return (s > relative.maximum(tolerance.atol.value_or(0))).cast(s.dtype());
}

Tensor pseudo_inverse(const Tensor& a, const linalg::Tolerance& tolerance) {
  const linalg::Svd f = linalg::svd(a, false);
  const Tensor counted = counted_values(f.s, a, tolerance).cast(dtypes::bool_);
  const Tensor inverse = counted.where(counted.where(f.s, 1).reciprocal(), 0);
  return turned(f.vh).matmul(inverse.unsqueeze(-1) * turned(f.u));
}

// With P the pseudo-inverse, of dP = -P dA P + P P^T dA^T (1 - A P) + (1 - P A) dA^T P^T P.
Tensor pinv_gradient(const Tensor& g, const Tensor& a, const Tensor& p) {
  const Tensor pt = turned(p), gt = turned(g);
  const Tensor outside = gt - a.matmul(p.matmul(gt)), beyond = gt - gt.matmul(p).matmul(a);
  return outside.matmul(p).matmul(pt) + pt.matmul(p).matmul(beyond) - pt.matmul(g).matmul(pt);
}

void want_fitting(std::string_view op, const Tensor& a, const Tensor& b) {
  if (b.ndim() < 2 || b.size(-2) != a.size(-2))
    user_error(fmt::format("{}: a matrix of shape {} does not fit a right side of shape {}", op,
                           shape_text(a.uop()), shape_text(b.uop())));
}

}  // namespace

namespace linalg {

Tensor solve(const Tensor& a, const Tensor& b, bool left) {
  const Called called;
  const Tensor matrix = square_of("solve", a);
  std::vector<std::int64_t> vectors = a.shape();
  vectors.pop_back();
  const bool is_vector = b.ndim() == 1 || b.shape() == vectors;
  if (is_vector && !left)
    user_error(fmt::format("solve: a vector of shape {} has no rows to solve for from the right",
                           shape_text(b.uop())));
  if (is_vector) return solve(a, b.unsqueeze(-1)).squeeze(-1);
  if (!left) return turned(solve(turned(a), turned(b)));
  want_fitting("solve", a, b);
  const auto [l, r] =
      batched("solve", matrix, b.cast(promote(matrix.dtype(), float_like(b.dtype()))));
  return solution(l.cast(r.dtype()), r).cast(float_like(promote(a.dtype(), b.dtype())));
}

Tensor inv(const Tensor& a) {
  const Called called;
  const Tensor matrix = square_of("inv", a);
  const auto forward = [](const std::vector<Tensor>& in) { return inverse_of(eliminated(in[0])); };
  const auto backward = [](const Tensor& gradient, const std::vector<Tensor>&,
                           const Tensor& inverse) {
    const Tensor t = turned(inverse);
    return std::vector<Tensor>{-t.matmul(gradient).matmul(t)};
  };
  return Tensor::custom({matrix}, forward, backward).cast(float_like(a.dtype()));
}

Tensor det(const Tensor& a) {
  const Called called;
  const auto forward = [](const std::vector<Tensor>& in) {
    const Packed f = eliminated(in[0]);
    return f.sign * diagonal_of(f.lu).prod(-1);
  };
  const auto backward = [](const Tensor& gradient, const std::vector<Tensor>& in,
                           const Tensor& value) {
    return std::vector<Tensor>{(gradient * value).unsqueeze(-1).unsqueeze(-1) * turned(inv(in[0]))};
  };
  return Tensor::custom({square_of("det", a)}, forward, backward).cast(float_like(a.dtype()));
}

SlogDet slogdet(const Tensor& a) {
  const Called called;
  const auto forward = [](const std::vector<Tensor>& in) { return sign_and_log(in[0]); };
  const auto backward = [](const Tensor& gradient, const std::vector<Tensor>& in, const Tensor&) {
    return std::vector<Tensor>{columns(gradient, 1, 2).unsqueeze(-1) * turned(inv(in[0]))};
  };
  const Tensor both =
      Tensor::custom({square_of("slogdet", a)}, forward, backward).cast(float_like(a.dtype()));
  return {columns(both, 0, 1).squeeze(-1).detach(), columns(both, 1, 2).squeeze(-1)};
}

Tensor pinv(const Tensor& a, const Tolerance& tolerance) {
  const Called called;
  const Tensor matrix = matrix_of("pinv", a);
  if (a.size(-1) == 0 || a.size(-2) == 0) return turned(a).cast(float_like(a.dtype()));
  const auto forward = [tolerance](const std::vector<Tensor>& in) {
    return pseudo_inverse(in[0], tolerance);
  };
  const auto backward = [](const Tensor& gradient, const std::vector<Tensor>& in, const Tensor& p) {
    return std::vector<Tensor>{pinv_gradient(gradient, in[0], p)};
  };
  return Tensor::custom({matrix}, forward, backward).cast(float_like(a.dtype()));
}

Tensor matrix_rank(const Tensor& a, const Tolerance& tolerance) {
  const Called called;
  const Tensor s = svdvals(matrix_of("matrix_rank", a));
  if (s.size(-1) == 0) return s.sum(-1).cast(dtypes::i64);
  return counted_values(s, a, tolerance).sum(-1).cast(dtypes::i64);
}

Lstsq lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond) {
  const Called called;
  const Tensor matrix = matrix_of("lstsq", a);
  want_fitting("lstsq", a, b);
  const Tolerance tolerance{.rtol = rcond};
  const Tensor x = pinv(matrix, tolerance).matmul(b);
  return {x.cast(float_like(promote(a.dtype(), b.dtype()))),
          (matrix.matmul(x) - b).square().sum(-2), matrix_rank(matrix, tolerance), svdvals(matrix)};
}

}  // namespace linalg
}  // namespace weft
