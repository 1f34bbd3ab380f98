// How weights begin. What is drawn depends on the numbers of inputs and outputs.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const init::Fans fans = init::fans_of({64, 3, 5, 5});
  std::cout << fans.in << " inputs, " << fans.out << " outputs\n";
  std::cout << init::gain(init::Nonlinearity::Tanh) << "\n";
  const Tensor w = init::kaiming_uniform({64, 3, 5, 5}, {.fan = init::Fan::Out});
  std::cout << (w.abs().max() <= 0.0613) << " " << (w.abs().max() > 0.06) << "\n";
  const Tensor q = init::orthogonal({3, 5});
  std::cout << q.matmul(q.T()).allclose(Tensor::eye(3), {.atol = 1e-5}) << "\n";
}

//> 75 inputs, 1600 outputs
//> 1.66667
//> true true
//> 1
