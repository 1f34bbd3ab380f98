// Options by name. What is left out is as it was in order.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x({{1.0, 2.0, 6.0}, {4.0, 5.0, 3.0}});
  std::cout << x.sum(1, {.keepdim = true}) << "\n";
  std::cout << x.var({}, {.correction = 0}) << " " << x.var({}, false, 0) << "\n";
  std::cout << x.topk(1, {.axis = 0, .largest = false}).values << "\n";
  std::cout << x.isclose(x + 0.5, {.atol = 1}).all() << "\n";
}

//> [[ 9.]
//>  [12.]]
//> 2.9167 2.9167
//> [[1. 2. 3.]]
//> true
