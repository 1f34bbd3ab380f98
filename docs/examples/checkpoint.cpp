// Ten layers, of which a training step keeps either everything or what goes in.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  std::vector<nn::Linear> layers(10, nn::Linear(64, 64));
  const Tensor x = Tensor::randn({256, 64}).realize();
  const auto gradients = [&](bool is_checkpointed) {
    Tensor h = x;
    for (nn::Linear& layer : layers) {
      const auto f = [&](const Tensor& in) { return layer(layer(in).sigmoid()).tanh(); };
      h = is_checkpointed ? checkpoint(f, h) : f(h);
    }
    return h.square().mean().gradient({layers[0].weight, layers[0].bias});
  };
  const RunCost kept = Tensor::cost(gradients(false)), again = Tensor::cost(gradients(true));
  std::cout << (again.own_bytes < kept.own_bytes ? "less" : "no less") << " memory\n";
  std::cout << (again.flops > kept.flops ? "more" : "no more") << " to compute\n";
  const bool is_same = gradients(true)[0].allclose(gradients(false)[0]);
  std::cout << (is_same ? "the same" : "other") << " gradients\n";
}
//> less memory
//> more to compute
//> the same gradients
