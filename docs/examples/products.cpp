// Products and windows are movement, a product and a sum: one kernel.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor a({{1.0, 2.0}, {3.0, 4.0}}), b({{1.0}, {-1.0}});
  std::cout << a.matmul(b) << "\n";
  const Tensor image = Tensor::arange(16, {.dtype = dtypes::f32}).reshape({1, 1, 4, 4});
  const Tensor blur = Tensor::ones({1, 1, 3, 3}) / 9;
  const Tensor smooth = image.conv2d(blur).relu();
  std::cout << smooth.schedule().size() << " kernel\n";
  std::cout << smooth.reshape({2, 2}) << "\n";
  std::cout << image.max_pool2d().reshape({2, 2}) << "\n";
}

//> [[-1.]
//>  [-1.]]
//> 1 kernel
//> [[ 5.  6.]
//>  [ 9. 10.]]
//> [[ 5.  7.]
//>  [13. 15.]]
