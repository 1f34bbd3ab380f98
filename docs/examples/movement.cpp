// Movement computes no values; a kernel that reads the result reads through it.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x = Tensor::arange(6).reshape({2, 3});
  std::cout << x.T() << "\n";
  std::cout << x[{Slice{}, Slice{.step = 2}}] << "\n";
  std::cout << x.flip(1).pad({{0, 0}, {1, 0}}, 9) << "\n";
  std::cout << Tensor::cat({x, x[0].unsqueeze(0)}) << "\n";
  std::cout << x.T().views() << "\n";
}

//> [[0 3]
//>  [1 4]
//>  [2 5]]
//> [[0 2]
//>  [3 5]]
//> [[9 2 1 0]
//>  [9 5 4 3]]
//> [[0 1 2]
//>  [3 4 5]
//>  [0 1 2]]
//> shape (3, 2), strides (1, 3), offset 0
