// Nothing runs until values are asked for.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x({{1.0, 2.0}, {3.0, 4.0}});
  const Tensor y = (x * 2 + 1).sum(0);  // a graph
  for (const ScheduleItem& item : y.schedule()) std::cout << item.name << "\n";
  const std::vector<float> values = y.to_vector<float>();
  std::cout << values[0] << " " << values[1] << "\n";
  std::cout << y.sum().item<double>() << "\n";
  std::cout << x.T() << "\n";
}

//> r_2_2
//> 10 14
//> 24
//> [[1. 3.]
//>  [2. 4.]]
