// Over all axes by default, or over those that are named.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x({{1.0, 2.0, 6.0}, {4.0, 5.0, 3.0}});
  std::cout << x.sum() << " " << x.max(1) << " " << x.mean(0, true) << "\n";
  std::cout << x.argmax(1) << " " << x.std(1) << "\n";
  std::cout << x.softmax() << "\n";
  std::cout << x.softmax().schedule().size() << " kernel\n";
}

//> 21. [6. 5.] [[2.5 3.5 4.5]]
//> [2 1] [2.6458 1.    ]
//> [[0.0066 0.0179 0.9756]
//>  [0.2447 0.6652 0.09  ]]
//> 1 kernel
