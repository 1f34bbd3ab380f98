#include <weft/dev/onnx/load_value.h>

#include "tensors.h"

namespace weft::onnx {

Value load_value(const std::string& path, const Port& port) {
  const auto file = std::make_shared<const Mapping>(path);
  const InFile in{path};
  const Weights weights(in, file, {}, {});
  TypeProto::Kind kind = TypeProto::Tensor;
  if (port.kind == "sequence") kind = TypeProto::Sequence;
  if (port.kind == "optional") kind = TypeProto::Optional;
  if (port.kind == "map") kind = TypeProto::Map;
  return weights.value(parse_value(file->bytes(), kind, in));
}

void save_value(const std::string& path, const Value& tensor, const std::string& name) {
  const std::string text = encoded(tensor, name);
  write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace weft::onnx
