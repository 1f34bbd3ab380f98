// Reads values that are files of their own.

#include "message.h"

namespace weft::onnx {
namespace {

ValueProto value(TypeProto::Kind kind, Message from);

// Fields of a sequence or an optional, which are numbered alike.
TypeProto::Kind kind_of_field(unsigned field) {
  switch (field) {
    case 3: return TypeProto::Tensor;
    case 4: return TypeProto::SparseTensor;
    case 5: return TypeProto::Sequence;
    case 6: return TypeProto::Map;
    case 7: return TypeProto::Optional;
    default: return TypeProto::None;
  }
}

ValueProto map_value(Message from) {
  ValueProto result;
  std::vector<std::int64_t> keys;
  while (from.next()) switch (from.field()) {
      case 3: from.add_to(keys); break;
      case 4: result.keys.emplace_back(std::string(from.text())); break;
      case 5: result.parts = value(TypeProto::Sequence, from.message("SequenceProto")).parts; break;
      default: from.skip();
    }
  result.keys.insert(result.keys.end(), keys.begin(), keys.end());
  if (result.keys.size() != result.parts.size()) from.fail("as many keys as values are expected");
  return result;
}

ValueProto value(TypeProto::Kind kind, Message from) {
  ValueProto result;
  if (kind == TypeProto::Map) {
    result = map_value(from);
  } else if (kind == TypeProto::Sequence || kind == TypeProto::Optional) {
    while (from.next()) {
      const TypeProto::Kind part = kind_of_field(from.field());
      if (part == TypeProto::None)
        from.skip();
      else
        result.parts.push_back(value(part, from.message("value")));
    }
  } else if (kind == TypeProto::SparseTensor) {
    from.fail("sparse tensors are not supported here");
  } else {
    result.tensor = tensor_of(from);
  }
  result.kind = kind;
  return result;
}

}  // namespace

TensorProto parse_tensor(Bytes bytes, const InFile& in) {
  return checked_read(in, [&] { return tensor_of({"TensorProto", bytes, in}); });
}

ValueProto parse_value(Bytes bytes, TypeProto::Kind kind, const InFile& in) {
  return checked_read(in, [&] { return value(kind, {"value", bytes, in}); });
}

}  // namespace weft::onnx
