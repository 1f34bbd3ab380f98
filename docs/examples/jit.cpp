// A function whose kernels are replayed: its graph is built twice, however often it is called.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  nn::Linear line(1, 1);
  line.weight.assign(Tensor({{0.0}}));
  line.bias.assign(Tensor({0.0}));
  nn::SGD optimizer(line, {.lr = 0.1});
  int runs = 0;
  auto step = jit([&](const Tensor& x, const Tensor& y) {
    ++runs;
    optimizer.zero_grad();
    const Tensor loss = (line(x) - y).square().mean();
    loss.backward();
    optimizer.step();
    return loss;
  });
  const Tensor x({{-1.0}, {0.0}, {1.0}, {2.0}}), y = x * 3 + 1;
  Tensor loss;
  for (int i = 0; i < 200; ++i) loss = step(x, y);
  std::cout << "it ran " << runs << " times\n";
  std::cout << "weight " << line.weight.round().item<float>() << ", bias "
            << line.bias.round().item<float>() << "\n";
  std::cout << "the loss is " << (loss.item<float>() < 1e-6F ? "small" : "large") << "\n";
  std::cout << (step.report().own_bytes <= step.report().least_bytes ? "no" : "some")
            << " memory is wasted\n";
  step.reset();  // the next call builds the graph again
  step(x, y);
  std::cout << "it ran " << runs << " times\n";
}
//> it ran 2 times
//> weight 3, bias 1
//> the loss is small
//> no memory is wasted
//> it ran 3 times
