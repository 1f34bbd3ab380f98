// What a tensor says of itself. Asking computes nothing.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x = Tensor::arange(6, {.dtype = dtypes::i16}).reshape({2, 3});
  std::cout << x.ndim() << " axes, " << x.numel() << " elements, " << x.nbytes() << " bytes\n";
  std::cout << x.shape()[1] << " " << x.size(-1) << " " << x.len() << "\n";
  std::cout << x.dtype().str() << " on " << x.device() << "\n";
  std::cout << x.contiguous().realize().T().views() << "\n";
}

//> 2 axes, 6 elements, 12 bytes
//> 3 3 2
//> i16 on CPU
//> shape (3, 2), strides (1, 3), offset 0
