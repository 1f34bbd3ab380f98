// Memory shared with another library in the same process.
#include <iostream>

#include <weft/dlpack.h>
#include <weft/weft.h>

using namespace weft;

int main() {
  Tensor x = Tensor({1.0, 2.0, 3.0}).realize();
  Tensor there = from_dlpack(to_dlpack(x));  // what the other library would hold
  there.assign(there * 2).realize();
  std::cout << x << "\n";
}

//> [2. 4. 6.]
