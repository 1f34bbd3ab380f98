// What methods take: sizes, axes, indices, options.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x = Tensor::arange(12, {.dtype = dtypes::i64}).reshape({3, -1});
  std::cout << x.sum({0, 1}) << " " << x.sum(-1) << "\n";
  std::cout << x[{Slice{.step = 2}, Slice{1, 3}}] << "\n";
  std::cout << x[{ellipsis, newaxis, 0}] << "\n";
  std::cout << (x / 7.0).str(PrintStyle{.precision = 2, .threshold = 6, .edge_items = 1}) << "\n";
}

//> 66 [ 6 22 38]
//> [[ 1  2]
//>  [ 9 10]]
//> [[0]
//>  [4]
//>  [8]]
//> [[0.   ... 0.43]
//>  ...
//>  [1.14 ... 1.57]]
