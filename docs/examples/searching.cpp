// Where values belong, and how often they occur.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor edges({1.0, 2.0, 4.0}), x({0.5, 2.0, 3.0, 9.0});
  std::cout << edges.searchsorted(x) << " " << x.bucketize(edges, true) << "\n";
  std::cout << Tensor({1, 2, 3}).isin(Tensor({3, 1})) << "\n";
  std::cout << Tensor({0, 2, 2, 3}).bincount() << "\n";
  std::cout << x.histc(3, 0, 9) << " " << x.histogram(edges).counts << "\n";

  // How many there are only their values say, so this computes them.
  const auto [different, inverse, counts] = Tensor({4, 2, 4, 4}).unique();
  std::cout << different << " " << inverse << " " << counts << "\n";
}

//> [0 1 2 3] [0 2 2 3]
//> [ true false  true]
//> [1 0 2 1]
//> [2. 1. 1.] [0. 2.]
//> [2 4] [1 0 1 1] [1 3]
