// Order along an axis.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x({{3.0, 1.0, 2.0}, {5.0, 9.0, 7.0}});
  const auto [values, indices] = x.sort(-1, true);
  std::cout << values << "\n" << indices << "\n";
  std::cout << x.topk(2).values << "\n";
  std::cout << x.median() << " " << x.quantile(0.25) << "\n";

  const auto [different, inverse, counts] = Tensor({4, 2, 4, 4}).unique();
  std::cout << different << " " << counts << "\n";
}

//> [[3. 2. 1.]
//>  [9. 7. 5.]]
//> [[0 2 1]
//>  [1 2 0]]
//> [[3. 2.]
//>  [9. 7.]]
//> 3. 2.25
//> [2 4] [1 3]
