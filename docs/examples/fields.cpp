// A model is a struct that says which of its members have tensors.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

struct Layer {
  Tensor weight, bias;
  Layer(std::int64_t in, std::int64_t out)
      : weight(Tensor::ones({in, out}, {.requires_grad = true})),
        bias(Tensor::zeros({out}, {.requires_grad = true})) {}
  Tensor operator()(const Tensor& x) const { return x.linear(weight, bias); }
  WEFT_FIELDS(weight, bias);
};

struct Model {
  std::vector<Layer> layers{{3, 2}, {2, 1}};
  Tensor operator()(Tensor x) const {
    for (const Layer& layer : layers) x = layer(x).relu();
    return x;
  }
  WEFT_FIELDS(layers);
};

int main() {
  Model model, other;
  for (const auto& [name, tensor] : get_state_dict(model))
    std::cout << name << " " << tensor.numel() << "\n";
  std::cout << count_parameters(model) << " parameters\n";
  for (Tensor& parameter : get_parameters(model)) parameter.fill(0.5);
  load_state_dict(other, get_state_dict(model));
  std::cout << other(Tensor::ones({1, 3})) << "\n";
}

//> layers.0.bias 2
//> layers.0.weight 6
//> layers.1.bias 1
//> layers.1.weight 2
//> 11 parameters
//> [[2.5]]
