// Gradients of what was computed, in two ways.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor w({2.0, -1.0}, {.requires_grad = true}), x({3.0, 4.0});
  const Tensor loss = (w * x).sum().square();
  loss.backward();
  std::cout << w.grad() << "\n";
  const Tensor gradient = loss.gradient({x})[0];  // of anything, whether it requires one or not
  std::cout << gradient << "\n";
  std::cout << gradient.sum().gradient({w})[0] << "\n";  // and once more
}

//> [12. 16.]
//> [ 8. -4.]
//> [10. 12.]
