// A model is a struct of layers.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

struct Mlp {
  nn::Linear hidden{2, 8}, out{8, 1};
  Tensor operator()(const Tensor& x) const { return out(hidden(x).tanh()); }
  WEFT_FIELDS(hidden, out);
};

int main() {
  const Mlp mlp;
  std::cout << mlp(Tensor::ones({3, 2})).numel() << "\n";
  for (const auto& [name, tensor] : get_state_dict(mlp))
    std::cout << name << " " << tensor.numel() << "\n";
}

//> 3
//> hidden.bias 8
//> hidden.weight 16
//> out.bias 1
//> out.weight 8
