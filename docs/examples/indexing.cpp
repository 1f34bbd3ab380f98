// By integer tensors.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor table({{0.0, 1.0}, {10.0, 11.0}, {20.0, 21.0}});
  std::cout << table.take(Tensor({2, 0})) << "\n";
  std::cout << table.gather(1, Tensor({{1}, {0}, {1}})) << "\n";
  std::cout << Tensor({1, 0, 2}).one_hot(3) << "\n";
}

//> [[20. 21.]
//>  [ 0.  1.]]
//> [[ 1.]
//>  [10.]
//>  [21.]]
//> [[0 1 0]
//>  [1 0 0]
//>  [0 0 1]]
