// Shapes broadcast, dtypes promote, numbers take the dtype of the tensor they meet.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x({-1.0, 0.0, 2.0});
  std::cout << (x * 2 - 1) << "\n";
  std::cout << (x > 0).where(x, 0.5) << "\n";
  std::cout << Tensor({7, -7}).floordiv(2) << " " << Tensor({7, -7}) % 3 << "\n";
  std::cout << (Tensor({{1}, {2}}) + Tensor({10, 20})) << "\n";
  std::cout << x.relu() << " " << x.sigmoid() << "\n";
}

//> [-3. -1.  3.]
//> [0.5 0.5 2. ]
//> [ 3 -4] [1 2]
//> [[11 21]
//>  [12 22]]
//> [0. 0. 2.] [0.2689 0.5    0.8808]
