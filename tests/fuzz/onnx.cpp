// Any bytes as an ONNX model, which runs where its inputs are small.
#include "as_file.h"

namespace weft {
namespace {

using onnx::Model;
using onnx::Value;

// Zeros of the shape that is asked for, with 2 for what may be anything.
Value input_of(const onnx::Port& port) {
  if (port.kind == "optional") return {};
  if (port.kind == "sequence") return onnx::Sequence(2, Tensor::zeros({2}, {.device = "INTERP"}));
  if (port.type == onnx::Type::String) return onnx::Text{{2}, {"some", "words"}};
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (const auto& size : port.shape) {
    const auto* number = std::get_if<std::int64_t>(&size);
    shape.push_back(number == nullptr || *number <= 0 ? 2 : *number);
    if (shape.back() > 64 || (elements *= shape.back()) > 1024) user_error("a large input");
  }
  return Tensor::zeros(shape, {.dtype = onnx::dtype_of(port.type), .device = "INTERP"});
}

void run(std::string_view text) {
  const Model model = Model::parse(std::as_bytes(std::span(text)), {.device = "INTERP"});
  onnx::NamedValues inputs;
  for (const onnx::Port& port : model.inputs()) inputs.emplace(port.name, input_of(port));
  model(inputs);
}

}  // namespace
}  // namespace weft

WEFT_FUZZ(weft::run)
