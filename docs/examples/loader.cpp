// Batches in a random order, and how far one is.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const Tensor x = Tensor::arange(10), y = x * x;
  DataLoader loader({x, y}, {.batch_size = 4, .shuffle = true, .drop_last = true, .seed = 1});
  Progress progress(loader.batches());
  for (const std::vector<Tensor>& batch : loader) {
    std::cout << (batch[0] * batch[0]).equal(batch[1]) << "\n";
    progress.step(0.1);  // the loss
  }
  std::cout << loader.epoch() << " " << loader.state() << "\n";
}

//> 1
//> 1
//> 1 [1 1 0]
