// Running sums, products and extremes along an axis.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x({{3, 1, 4}, {1, 5, 9}});
  std::cout << x.cumsum(1) << "\n";
  std::cout << x.cumprod(0) << "\n";
  const auto [values, places] = x.cummax(1);
  std::cout << values << "\n" << places << "\n";
  std::cout << Tensor({1, 4, 9, 16}).diff() << " "
            << Tensor({1, 4, 9, 16}).diff({.times = 2, .prepend = Tensor({0})}) << "\n";
}

//> [[ 3  4  8]
//>  [ 1  6 15]]
//> [[ 3  1  4]
//>  [ 3  5 36]]
//> [[3 3 4]
//>  [1 5 9]]
//> [[0 0 2]
//>  [0 1 2]]
//> [3 5 7] [2 2 2]
