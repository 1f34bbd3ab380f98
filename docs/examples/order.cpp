// Order along an axis.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x({{3.0, 1.0, 2.0}, {5.0, 9.0, 7.0}});
  const auto [values, indices] = x.sort(-1, true);
  std::cout << values << "\n" << indices << "\n";
  std::cout << x.topk(2).values << " " << x.topk(1, {.largest = false}).indices << "\n";
  std::cout << x.argsort() << "\n";
  std::cout << x.median() << " " << x.quantile(0.25) << "\n";
}

//> [[3. 2. 1.]
//>  [9. 7. 5.]]
//> [[0 2 1]
//>  [1 2 0]]
//> [[3. 2.]
//>  [9. 7.]] [[1]
//>  [0]]
//> [[1 2 0]
//>  [0 2 1]]
//> 3. 2.25
