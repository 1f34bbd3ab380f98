#include "table.h"

namespace weft {
namespace {

namespace la = linalg;

TEST(TensorErrors, LinearAlgebra) {
  const WrongCall calls[] = {
      {"qr", [] { of({3}).qr(); }, "qr: shape (3,) is no matrix, nor a batch of such"},
      {"svd", [] { of({}).svd(); }, "svd: shape () is no matrix, nor a batch of such"},
      {"cholesky", [] { la::cholesky(of({2, 3})); },
       "cholesky: matrices of shape (2, 3) are not square"},
      {"lu", [] { la::lu(of({4, 2, 3})); }, "lu: matrices of shape (4, 2, 3) are not square"},
      {"eigh", [] { la::eigh(of({2, 3})); }, "eigh: matrices of shape (2, 3) are not square"},
      {"inverse", [] { of({3, 2}).inverse(); }, "inverse: matrices of shape (3, 2) are not square"},
      {"det", [] { of({3, 2}).det(); }, "det: matrices of shape (3, 2) are not square"},
      {"slogdet", [] { la::slogdet(of({2})); },
       "slogdet: shape (2,) is no matrix, nor a batch of such"},
      {"solve", [] { la::solve(of({2, 3}), of({2})); },
       "solve: matrices of shape (2, 3) are not square"},
      {"solve", [] { la::solve(of({3, 3}), of({2, 4})); },
       "solve: a matrix of shape (3, 3) does not fit a right side of shape (2, 4)"},
      {"solve", [] { la::solve(of({3, 3}), of({3}), false); },
       "solve: a vector of shape (3,) has no rows to solve for from the right"},
      {"solve", [] { la::solve(of({2, 3, 3}), of({5, 3, 1})); },
       "solve: shapes (2,) and (5,) do not broadcast: 2 does not match 5"},
      {"solve_triangular", [] { la::solve_triangular(of({3, 3}), of({2, 1}), {.upper = true}); },
       "solve_triangular: a matrix of shape (3, 3) does not fit a right side of shape (2, 1)"},
      {"householder_product", [] { la::householder_product(of({2, 3}), of({2})); },
       "householder_product: shape (2, 3) with tau of shape (2,): expected (..., m, n) with n at "
       "most "
       "m, and (..., k) with k at most n"},
      {"lstsq", [] { la::lstsq(of({3, 2}), of({3})); },
       "lstsq: a matrix of shape (3, 2) does not fit a right side of shape (3,)"},
      {"matrix_power", [] { la::matrix_power(of({2, 3}), 2); },
       "matrix_power: matrices of shape (2, 3) are not square"},
      {"matrix_exp", [] { la::matrix_exp(of({2, 3})); },
       "matrix_exp: matrices of shape (2, 3) are not square"},
      {"matrix_norm", [] { la::matrix_norm(of({2, 3}), "max"); },
       "matrix_norm: there is no norm \"max\": \"fro\" and \"nuc\" have names"},
      {"matrix_norm", [] { la::matrix_norm(of({2, 3}), 3); },
       "matrix_norm: there is no norm 3 of matrices: 1, 2, inf and their negatives"},
      {"matrix_norm", [] { la::matrix_norm(of({2, 3}), "fro", 1); },
       "matrix_norm: 1 axes of a tensor of shape (2, 3): a matrix has two"},
      {"norm", [] { la::norm(of({2, 3, 4}), 1.0); },
       "norm: 1 of 3 axes of a tensor of shape (2, 3, 4): vectors have one, matrices two"},
      {"multi_dot", [] { la::multi_dot({of({2, 3})}); }, "multi_dot: fewer than two tensors"},
      {"multi_dot", [] { la::multi_dot({of({2, 3}), of({3}), of({3, 2})}); },
       "multi_dot: tensor 1 has shape (3,): expected a matrix"},
      {"cross", [] { of({2, 4}).cross(of({2, 4})); },
       "cross: shapes (2, 4) and (2, 4): axis -1 is not of size 3 in both"},
      {"outer", [] { of({2, 2}).outer(of({2})); },
       "outer: shapes (2, 2) and (2,) are not those of two vectors"},
      {"vander", [] { la::vander(of({})); }, "vander: a scalar has no axis to take powers of"},
      {"newton_schulz", [] { of({2}).newton_schulz(2, {1, 2}); },
       "newton_schulz: shape (2,) is no matrix, nor a batch of such"},
      {"newton_schulz", [] { of({2, 2}).newton_schulz(-1, {}); },
       "newton_schulz: -1 steps with 0 parameters: expected at least one parameter"},
  };
  expect_errors(calls);
}

}  // namespace
}  // namespace weft
