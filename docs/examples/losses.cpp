// Losses take scores, so that they stay exact where probabilities would not.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor scores({{2.0, 0.0, 0.0}, {0.0, 0.0, 9.0}}), classes({0, 2});
  std::cout << scores.cross_entropy(classes, Reduction::None) << "\n";
  std::cout << Tensor({1.0, 3.0}).mse_loss(Tensor({0.0, 0.0})) << "\n";
}

//> [0.2395 0.0002]
//> 5.
