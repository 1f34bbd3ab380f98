// A model is a struct of layers. It learns by an optimiser, at rates that a schedule sets.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

struct Mlp {
  nn::Linear hidden{2, 8}, out{8, 1};
  Tensor operator()(const Tensor& x) const { return out(hidden(x).tanh()); }
  WEFT_FIELDS(hidden, out);
};

int main() {
  Tensor::manual_seed(1);
  const Tensor x{{0.0f, 0.0f}, {0.0f, 1.0f}, {1.0f, 0.0f}, {1.0f, 1.0f}};
  const Tensor y{{0.0f}, {1.0f}, {1.0f}, {0.0f}};
  const Mlp mlp;
  nn::AdamW optimizer(mlp, {.lr = 0.1});
  nn::Scheduler schedule(optimizer, nn::CosineAnnealingLR{.t_max = 100});
  for (int epoch = 0; epoch < 100; ++epoch) {
    const Training training;
    optimizer.zero_grad();
    mlp(x).binary_crossentropy_logits(y).backward();
    nn::clip_grad_norm(mlp, 10);
    optimizer.step();
    schedule.step();
  }
  std::cout << (mlp(x) > 0).flatten() << "\n";
  for (const auto& [name, tensor] : get_state_dict(mlp))
    std::cout << name << " " << tensor.numel() << "\n";
}

//> [false  true  true false]
//> hidden.bias 8
//> hidden.weight 16
//> out.bias 1
//> out.weight 8
