// Draws of a stream that a seed begins, on every device alike.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  Tensor::manual_seed(42);
  const Tensor waits = random::exponential({10000}, 2.5);
  std::cout << "the mean of 10000 waits is near 0.4: " << waits.mean().isclose(0.4, {.rtol = 0.05})
            << "\n";
  Tensor::manual_seed(42);
  std::cout << "and they are the same again: " << waits.equal(random::exponential({10000}, 2.5))
            << "\n";
  const Tensor shuffled = random::permutation(Tensor::arange(6));
  std::cout << shuffled.sort().values << "\n";
  const Tensor p({0.0, 1.0});
  std::cout << random::bernoulli(p) << " " << random::choice(Tensor({7}), {3}) << "\n";
}

//> the mean of 10000 waits is near 0.4: true
//> and they are the same again: 1
//> [0 1 2 3 4 5]
//> [0. 1.] [7 7 7]
