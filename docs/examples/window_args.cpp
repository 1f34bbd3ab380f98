// Windows: padding in its forms, and options by name.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x = Tensor::arange(16).reshape({1, 1, 4, 4}).to_float(),
               w = Tensor::ones({1, 1, 3, 3});
  std::cout << x.conv2d(w, {}, {.padding = "same"}).shape()[3] << "\n";
  std::cout << x.conv2d(w, {}, {.stride = {2, 1}, .padding = {{1, 2}, {0, 0}}}).shape()[2] << "\n";
  const Padding moved = {{0, 0}, {-1, 1}};  // the first column goes, and one of zeros comes
  std::cout << x.conv2d(w, {}, {.padding = moved}).shape()[3] << "\n";
}

//> 4
//> 3
//> 2
