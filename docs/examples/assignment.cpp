// Tensors that look at the same memory see what is assigned to any of them.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  Tensor x = Tensor::zeros({2, 3});
  Tensor row = x[1];
  const Tensor before = x.sum();  // is still the old sum when it is asked for after the assignment
  row.assign(Tensor({1.0, 2.0, 3.0}));
  x[0][2] += 5;
  std::cout << x << "\n" << before << "\n";
}

//> [[0. 0. 5.]
//>  [1. 2. 3.]]
//> 0.
