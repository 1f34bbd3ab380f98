// A wrong call throws at once, and says what it got and what it wants.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  try {
    Tensor::ones({2, 3}).matmul(Tensor::ones({2, 3}));
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
}

//> matmul: shapes (2, 3) and (2, 3): 3 does not match 2
