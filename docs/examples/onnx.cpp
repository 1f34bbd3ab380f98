// A model of two nodes: y = Relu(x + one).
#include <iostream>
#include <span>
#include <string_view>

#include <weft/weft.h>

using namespace weft;
using namespace std::string_view_literals;

int main() {
  // What a file holds; onnx::Model::load("model.onnx") reads one.
  constexpr std::string_view file =
      "\x08\x08:Z\n\x12\n\x01x\n\x03one\x12\x03sum\"\x03"
      "Add\n\x0e\n\x03sum\x12\x01y\"\x04Relu\x12\x01g*\x0f\x08\x01\x10\x01\"\x04\0\0\x80?"
      "B\x03oneZ\x0f\n\x01x\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x03"
      "b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x03"
      "B\x04\n\0\x10\x11"sv;
  const onnx::Model model = onnx::Model::parse(std::as_bytes(std::span(file)));
  for (const onnx::OpUse& op : model.ops()) std::cout << op.name << " " << op.nodes << "\n";
  const onnx::NamedValues results = model({{"x", Tensor({-3.0, 0.0, 2.0})}});
  std::cout << model.outputs()[0].name << " " << results.at("y").tensor() << "\n";
  for (const auto& [name, value] : model.parameters()) std::cout << name << " " << value << "\n";
}

//> Add 1
//> Relu 1
//> y [0. 1. 3.]
//> one [1.]
