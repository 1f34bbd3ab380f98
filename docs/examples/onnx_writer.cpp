// A model of two nodes is written, and read again.
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  const nn::Linear layer(3, 2);
  onnx::Writer net("scores", 22);
  const std::string x = net.input("x", onnx::Type::F32, {"batch", 3});
  const std::string weight = net.constant("weight", layer.weight);
  const std::string bias = net.constant("bias", layer.bias);
  const std::string y = net.node("Gemm", {x, weight, bias}, {{"transB", 1}});
  net.output("scores", net.node("Softmax", {y}, {{"axis", 1}}));

  const onnx::Model model = onnx::Model::parse(net.bytes());  // net.save("scores.onnx") writes a file
  for (const auto& size : model.outputs()[0].shape)
    std::visit([](const auto& each) { std::cout << each << "\n"; }, size);
  const Tensor some = Tensor::rand({4, 3});
  const Tensor found = model({{"x", some}}).at("scores").tensor();
  std::cout << found.allclose(layer(some).softmax(1)) << "\n";
  try {
    net.node("Add", {x, "nothing"});
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
}

//> batch
//> 2
//> 1
//> onnx: graph 'scores': 'Add_1' reads 'nothing', which nothing before it gives
