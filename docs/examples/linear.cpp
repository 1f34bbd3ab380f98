// Factorisations and what they solve: linalg.h has more of them, over any batch.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor a({{4.0, 2.0}, {2.0, 5.0}}), b({2.0, -7.0});
  std::cout << linalg::cholesky(a) << "\n";
  std::cout << linalg::solve(a, b) << "\n";
  std::cout << a.trace() << " " << a.det() << "\n";
  const auto [q, r] = a.qr();
  const bool is_near = ((q.matmul(r) - a).abs() < 1e-5).all().item<bool>();
  std::cout << (is_near ? "Q R is a" : "Q R is not a") << "\n";
}

//> [[2. 0.]
//>  [1. 2.]]
//> [ 1.5 -2. ]
//> 9. 16.
//> Q R is a
