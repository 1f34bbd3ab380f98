// Linear algebra over the last two axes; all axes before them are a batch.
//
//   const auto [q, r] = linalg::qr(a);
//   const Tensor x = linalg::solve(a, b);
//
// Everything is lazy and differentiable, in f32 or f64; other dtypes are computed in f32. A factorisation
// is unrolled by the size of the matrix: each of its steps is the same one to three kernels, so that they
// are compiled once and matrices of thousands of rows only take more steps. Eigenvalues and singular
// values take some n (8 + log2 n) steps for n columns, which is meant for n of up to some hundred.
// Nothing is an error that only the values show: what a singular matrix has no solution for is inf or NaN.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weft/tensor.h>

namespace weft::linalg {

// --- Factorisations -----------------------------------------------------------------------------

// The lower triangle L with L L^T = a, or the upper one of L^T; only that triangle of `a` is read.
Tensor cholesky(const Tensor& a, bool upper = false);

// a = P L U, with partial pivoting. P is a matrix of zeros and ones.
struct Lu {
  Tensor p, l, u;
};
Lu lu(const Tensor& a);

// a = Q R by Householder reflections, with the signs of LAPACK. Reduced: Q (m, k), R (k, n) with
// k = min(m, n); complete: Q (m, m), R (m, n).
struct Qr {
  Tensor q, r;
};
Qr qr(const Tensor& a, bool complete = false);
// The first columns of the product of the reflections 1 - tau v v^T, with v below the diagonal of `a`.
Tensor householder_product(const Tensor& a, const Tensor& tau);

// Of a symmetric matrix, of which the lower (or the upper) triangle is read: values in rising order, the
// vectors as columns. Gradients of vectors whose values are equal are not unique, and leave those out.
struct Eigh {
  Tensor values, vectors;
};
Eigh eigh(const Tensor& a, bool upper = false);
Tensor eigvalsh(const Tensor& a, bool upper = false);

// a = U diag(S) Vh, S in falling order. Full: U (m, m), Vh (n, n), where what goes beyond the first
// min(m, n) vectors has no gradient.
struct Svd {
  Tensor u, s, vh;
};
Svd svd(const Tensor& a, bool full_matrices = true);
Tensor svdvals(const Tensor& a);

// --- Solving ------------------------------------------------------------------------------------

// x with a x = b, or x a = b where `left` is false. b may be one vector for each matrix.
Tensor solve(const Tensor& a, const Tensor& b, bool left = true);
struct Triangular {
  bool upper, left = true, unitriangular = false;
};
Tensor solve_triangular(const Tensor& a, const Tensor& b, const Triangular& options);
Tensor cholesky_solve(const Tensor& b, const Tensor& factor, bool upper = false);
Tensor inv(const Tensor& a);

Tensor det(const Tensor& a);  // its gradient is that of an invertible matrix
struct SlogDet {
  Tensor sign, logabsdet;
};
SlogDet slogdet(const Tensor& a);

// The pseudo-inverse. Singular values of at most max(atol, rtol * largest) count as 0; by default rtol is
// max(m, n) eps if atol is not given, else 0.
struct Tolerance {
  std::optional<double> atol = {}, rtol = {};
};
Tensor pinv(const Tensor& a, const Tolerance& tolerance = {});
Tensor matrix_rank(const Tensor& a, const Tolerance& tolerance = {});

// The x of least norm among those with the least |a x - b|. The residuals, sums of squares for each column
// of b, are what that is; PyTorch leaves them out unless a has more rows than columns and full rank.
struct Lstsq {
  Tensor solution, residuals, rank, singular_values;
};
Lstsq lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond = {});

// --- Functions ----------------------------------------------------------------------------------

Tensor matrix_power(const Tensor& a, std::int64_t n);
// By scaling and squaring: exact up to norms of some 4000.
Tensor matrix_exp(const Tensor& a);

// ord: 2, inf, -inf, 0 (how many are not 0), or any other exponent.
Tensor vector_norm(const Tensor& x, double ord = 2, const AxisList& axes = {},
                   bool keepdim = false);
// "fro", "nuc", or the largest (1, inf, 2) or least (-1, -inf, -2) sum of a column, of a row, singular value.
Tensor matrix_norm(const Tensor& x, const std::string& ord = "fro", const AxisList& axes = {-2, -1},
                   bool keepdim = false);
Tensor matrix_norm(const Tensor& x, double ord, const AxisList& axes = {-2, -1},
                   bool keepdim = false);
// Of all elements, or the norm of vectors (one axis) or matrices (two axes).
Tensor norm(const Tensor& x, std::optional<double> ord = {}, const AxisList& axes = {},
            bool keepdim = false);
Tensor norm(const Tensor& x, const std::string& ord, const AxisList& axes = {-2, -1},
            bool keepdim = false);
// |a| |a^-1|, by singular values for 2 and -2.
Tensor cond(const Tensor& a, double ord = 2);
Tensor cond(const Tensor& a, const std::string& ord);

// --- Products -----------------------------------------------------------------------------------

Tensor multi_dot(const std::vector<Tensor>& matrices);  // in the cheapest order
Tensor vecdot(const Tensor& a, const Tensor& b, std::int64_t axis = -1);
Tensor cross(const Tensor& a, const Tensor& b, std::int64_t axis = -1);
Tensor outer(const Tensor& a, const Tensor& b);
Tensor kron(const Tensor& a, const Tensor& b);
Tensor trace(const Tensor& a);
// 1, x, x^2 ... along a new last axis.
Tensor vander(const Tensor& x, std::optional<std::int64_t> columns = {});

}  // namespace weft::linalg
