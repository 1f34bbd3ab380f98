// Factorisations, equations, norms; over the last two axes.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor a({{4.0, 2.0}, {2.0, 3.0}}), b({2.0, 5.0});
  std::cout << linalg::solve(a, b) << " " << linalg::det(a) << "\n";
  std::cout << linalg::cholesky(a) << "\n";
  const auto [q, r] = linalg::qr(a);
  std::cout << q.matmul(r).allclose(a, {.atol = 1e-5}) << " " << linalg::eigvalsh(a).sum() << "\n";
  std::cout << linalg::norm(a, "fro") << " " << linalg::matrix_power(a, 2) << "\n";
}

//> [-0.5  2. ] 8.
//> [[2.     0.    ]
//>  [1.     1.4142]]
//> 1 7.
//> 5.7446 [[20. 14.]
//>  [14. 13.]]
