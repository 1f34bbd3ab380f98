// Reads the wire format. The numbers of fields are those of the standard's onnx.proto; fields that say nothing about
// what is computed are passed over.

#include <algorithm>

#include "message.h"

namespace weft::onnx {
namespace {

std::string_view domain_of(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

std::pair<std::string_view, std::string_view> entry(Message from) {
  std::pair<std::string_view, std::string_view> result;
  while (from.next()) switch (from.field()) {
      case 1: result.first = from.text(); break;
      case 2: result.second = from.text(); break;
      default: from.skip();
    }
  return result;
}

}  // namespace

TensorProto tensor_of(Message from) {
  TensorProto result;
  while (from.next()) switch (from.field()) {
      case 1: from.add_to(result.dims); break;
      case 2: result.type = from.type(); break;
      case 3: from.fail("tensors in segments are not supported");
      case 4: from.add_to(result.floats, sizeof(float)); break;
      case 5: from.add_to(result.ints32); break;
      case 6: result.strings.push_back(from.text()); break;
      case 7: from.add_to(result.ints64); break;
      case 8: result.name = from.text(); break;
      case 9:
        result.raw = from.bytes();
        result.is_raw = true;
        break;
      case 10: from.add_to(result.doubles, sizeof(double)); break;
      case 11: from.add_to(result.uints64); break;
      case 13: result.external.push_back(entry(from.message("StringStringEntryProto"))); break;
      case 14: result.is_external = from.integer() == 1; break;
      default: from.skip();
    }
  return result;
}

namespace {

SparseTensorProto sparse_tensor(Message from) {
  SparseTensorProto result;
  while (from.next()) switch (from.field()) {
      case 1: result.values = tensor_of(from.message("TensorProto")); break;
      case 2: result.indices = tensor_of(from.message("TensorProto")); break;
      case 3: from.add_to(result.dims); break;
      default: from.skip();
    }
  return result;
}

std::variant<std::int64_t, std::string> dimension(Message from) {
  std::variant<std::int64_t, std::string> result{std::string()};
  while (from.next()) switch (from.field()) {
      case 1: result = from.integer(); break;
      case 2: result = std::string(from.text()); break;
      default: from.skip();
    }
  return result;
}

void read_shape(Message from, TypeProto& to) {
  to.has_shape = true;
  while (from.next())
    if (from.field() == 1)
      to.shape.push_back(dimension(from.message("Dimension")));
    else
      from.skip();
}

TypeProto type(Message from);

// What a kind of type says of itself.
TypeProto type_of_kind(TypeProto::Kind kind, Message from) {
  TypeProto result;
  result.kind = kind;
  const bool is_tensor = kind == TypeProto::Tensor || kind == TypeProto::SparseTensor;
  while (from.next()) {
    const bool is_element = from.field() == 1;
    if ((is_tensor || kind == TypeProto::Map) && is_element)
      result.element = from.type();
    else if (is_tensor && from.field() == 2)
      read_shape(from.message("TensorShapeProto"), result);
    else if (from.field() == (kind == TypeProto::Map ? 2U : 1U) && kind != TypeProto::Opaque)
      result.of.assign(1, type(from.message("TypeProto")));
    else
      from.skip();
  }
  return result;
}

TypeProto type(Message from) {
  constexpr TypeProto::Kind kinds[] = {
      TypeProto::None,         TypeProto::Tensor,  TypeProto::None, TypeProto::None,
      TypeProto::Sequence,     TypeProto::Map,     TypeProto::None, TypeProto::Opaque,
      TypeProto::SparseTensor, TypeProto::Optional};
  TypeProto result;
  while (from.next()) {
    const TypeProto::Kind kind =
        from.field() < std::size(kinds) ? kinds[from.field()] : TypeProto::None;
    if (kind == TypeProto::None)
      from.skip();
    else
      result = type_of_kind(kind, from.message("type"));
  }
  return result;
}

ValueInfoProto value_info(Message from) {
  ValueInfoProto result;
  while (from.next()) switch (from.field()) {
      case 1: result.name = from.text(); break;
      case 2: result.type = type(from.message("TypeProto")); break;
      default: from.skip();
    }
  return result;
}

GraphProto graph(Message from);

// In old files attributes do not say what they are.
AttributeProto::Kind kind_by_content(const AttributeProto& attribute, unsigned last_field) {
  constexpr std::pair<unsigned, AttributeProto::Kind> kinds[] = {
      {2, AttributeProto::Float},         {3, AttributeProto::Int},
      {4, AttributeProto::String},        {5, AttributeProto::Tensor},
      {6, AttributeProto::Graph},         {7, AttributeProto::Floats},
      {8, AttributeProto::Ints},          {9, AttributeProto::Strings},
      {10, AttributeProto::Tensors},      {11, AttributeProto::Graphs},
      {14, AttributeProto::Type},         {15, AttributeProto::Types},
      {22, AttributeProto::SparseTensor}, {23, AttributeProto::SparseTensors},
  };
  if (attribute.kind != AttributeProto::Undefined) return attribute.kind;
  for (const auto& [field, kind] : kinds)
    if (field == last_field) return kind;
  return AttributeProto::Undefined;
}

AttributeProto attribute(Message from) {
  AttributeProto result;
  unsigned last_field = 0;  // that has a value
  while (from.next()) {
    const unsigned field = from.field();
    switch (field) {
      case 1: result.name = from.text(); continue;
      case 2: result.floats.push_back(from.real()); break;
      case 3: result.ints.push_back(from.integer()); break;
      case 4:
      case 9: result.strings.push_back(from.text()); break;
      case 5:
      case 10: result.tensors.push_back(tensor_of(from.message("TensorProto"))); break;
      case 6:
      case 11: result.graphs.push_back(graph(from.message("GraphProto"))); break;
      case 7: from.add_to(result.floats); break;
      case 8: from.add_to(result.ints); break;
      case 14:
      case 15: result.types.push_back(type(from.message("TypeProto"))); break;
      case 20: {
        const std::int64_t kind = from.integer();
        if (kind < 0 || kind > AttributeProto::Types) from.fail("there is no such kind");
        result.kind = static_cast<AttributeProto::Kind>(kind);
        continue;
      }
      case 21: result.reference = from.text(); continue;
      case 22:
      case 23:
        result.sparse_tensors.push_back(sparse_tensor(from.message("SparseTensorProto")));
        break;
      default: from.skip(); continue;
    }
    last_field = field;
  }
  result.kind = kind_by_content(result, last_field);
  return result;
}

NodeProto node(Message from) {
  NodeProto result;
  while (from.next()) switch (from.field()) {
      case 1: result.inputs.push_back(from.text()); break;
      case 2: result.outputs.push_back(from.text()); break;
      case 3: result.name = from.text(); break;
      case 4: result.op = from.text(); break;
      case 5: result.attributes.push_back(attribute(from.message("AttributeProto"))); break;
      case 7: result.domain = domain_of(from.text()); break;
      case 8: result.overload = from.text(); break;
      default: from.skip();
    }
  return result;
}

GraphProto graph(Message from) {
  GraphProto result;
  while (from.next()) switch (from.field()) {
      case 1: result.nodes.push_back(node(from.message("NodeProto"))); break;
      case 2: result.name = from.text(); break;
      case 5: result.initialisers.push_back(tensor_of(from.message("TensorProto"))); break;
      case 11: result.inputs.push_back(value_info(from.message("ValueInfoProto"))); break;
      case 12: result.outputs.push_back(value_info(from.message("ValueInfoProto"))); break;
      case 15:
        result.sparse_initialisers.push_back(sparse_tensor(from.message("SparseTensorProto")));
        break;
      default: from.skip();
    }
  return result;
}

OpsetId opset(Message from) {
  OpsetId result;
  while (from.next()) switch (from.field()) {
      case 1: result.domain = domain_of(from.text()); break;
      case 2: result.version = from.integer(); break;
      default: from.skip();
    }
  return result;
}

FunctionProto function(Message from) {
  FunctionProto result;
  while (from.next()) switch (from.field()) {
      case 1: result.name = from.text(); break;
      case 4: result.inputs.push_back(from.text()); break;
      case 5: result.outputs.push_back(from.text()); break;
      case 7: result.nodes.push_back(node(from.message("NodeProto"))); break;
      case 9: result.opsets.push_back(opset(from.message("OperatorSetIdProto"))); break;
      case 10: result.domain = domain_of(from.text()); break;
      case 11: result.defaults.push_back(attribute(from.message("AttributeProto"))); break;
      case 13: result.overload = from.text(); break;
      default: from.skip();
    }
  return result;
}

ModelProto model(Message from) {
  ModelProto result;
  bool has_graph = false;
  while (from.next()) switch (from.field()) {
      case 1: result.ir_version = from.integer(); break;
      case 7:
        if (std::exchange(has_graph, true)) from.fail("there is a graph already");
        result.graph = graph(from.message("GraphProto"));
        break;
      case 8: result.opsets.push_back(opset(from.message("OperatorSetIdProto"))); break;
      case 14: result.metadata.push_back(entry(from.message("StringStringEntryProto"))); break;
      case 25: result.functions.push_back(function(from.message("FunctionProto"))); break;
      default: from.skip();
    }
  if (!has_graph) from.fail("there is no graph in it: it is no ONNX model");
  return result;
}

}  // namespace

void Packed::add(Bytes piece) {
  if (this->empty()) {
    if (piece.size() > sizeof(double)) {
      piece_ = piece;
      return;
    }
  } else if (own_.empty()) {
    own_.assign(piece_.begin(), piece_.end());
  }
  own_.insert(own_.end(), piece.begin(), piece.end());
}

const AttributeProto* NodeProto::find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &AttributeProto::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::string_view NodeProto::first_output() const {
  const auto found = std::ranges::find_if_not(outputs, &std::string_view::empty);
  return found == outputs.end() ? std::string_view() : *found;
}

ModelProto parse_model(Bytes bytes, const InFile& in) {
  return checked_read(in, [&] { return model({"ModelProto", bytes, in}); });
}

}  // namespace weft::onnx
