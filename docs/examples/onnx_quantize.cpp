// A product becomes one of integers: its weights need a quarter of the memory.
#include <filesystem>
#include <iostream>

#include <weft/weft.h>

using namespace weft;

int main() {
  onnx::Writer net("scores", 17);
  const std::string x = net.input("x", onnx::Type::F32, {"batch", 2});
  const std::string weight = net.constant("weight", Tensor({{1.F, -0.5F}, {0.25F, 2.F}}));
  net.output("scores", net.node("MatMul", {x, weight}, {}, {.name = "product"}));
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::string from = folder / "weft_example.onnx", to = folder / "weft_example.int8.onnx";
  net.save(from);

  const std::vector<onnx::NamedValues> calls{{{"x", Tensor({{0.F, 1.F}})}},
                                             {{"x", Tensor({{-1.F, 0.5F}})}}};
  const onnx::Quantized done = onnx::quantize(from, to, calls, {.per_channel = true});
  std::cout << done.products << " of " << done.products + done.others << "\n";
  const onnx::Model model = onnx::Model::load(to);
  std::cout << model.parameters().at("weight_bytes") << "\n";
  const Tensor scores = model({{"x", Tensor({{-1.F, 1.F}})}}).at("scores").tensor();
  std::cout << scores.allclose(Tensor({{-0.75F, 2.5F}}), {.rtol = 0, .atol = 0.02}) << "\n";

  onnx::quantize(from, to, calls, {.exclude = {"product"}});
  std::cout << onnx::Model::load(to).ops()[0].name << "\n";
  std::filesystem::remove(from);
  std::filesystem::remove(to);
}

//> 1 of 1
//> [[127 -32]
//>  [ 32 127]]
//> 1
//> MatMul
