// What an ONNX file says, as plain structs. Texts and weights are views of the file's bytes, which have to outlive
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <weft/onnx.h>

namespace weft {
struct InFile;
}

namespace weft::onnx {

using Bytes = std::span<const std::byte>;

// Numbers of one width in a row: in one piece of the file, as nearly all are, or put together.
class Packed {
 public:
  void add(Bytes piece);
  bool empty() const { return bytes().empty(); }
  Bytes bytes() const { return own_.empty() ? piece_ : Bytes(own_); }

 private:
  Bytes piece_;
  std::vector<std::byte> own_;
};

struct TensorProto {
  std::vector<std::int64_t> dims;
  Type type = Type::Undefined;
  std::string_view name;
  // Where the elements are: one of these.
  Bytes raw;
  bool is_raw = false;
  Packed floats, doubles;
  std::vector<std::int32_t> ints32;
  std::vector<std::int64_t> ints64;
  std::vector<std::uint64_t> uints64;
  std::vector<std::string_view> strings;
  bool is_external = false;
  std::vector<std::pair<std::string_view, std::string_view>> external;
};

struct SparseTensorProto {
  TensorProto values, indices;
  std::vector<std::int64_t> dims;
};

struct TypeProto {
  enum Kind : std::uint8_t { None, Tensor, SparseTensor, Sequence, Optional, Map, Opaque };
  Kind kind = None;
  Type element = Type::Undefined;  // of a tensor; of a map its keys
  bool has_shape = false;
  std::vector<std::variant<std::int64_t, std::string>> shape;
  std::vector<TypeProto> of;  // what a sequence, an optional or a map holds: one
};

struct ValueInfoProto {
  std::string_view name;
  TypeProto type;
};

struct GraphProto;

struct AttributeProto {
  enum Kind : std::uint8_t {
    Undefined,
    Float,
    Int,
    String,
    Tensor,
    Graph,
    Floats,
    Ints,
    Strings,
    Tensors,
    Graphs,
    SparseTensor,
    SparseTensors,
    Type,
    Types,
  };
  std::string_view name;
  Kind kind = Undefined;
  std::string_view reference;  // the attribute of the function around it that it stands for
  // What is one is a list of one.
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<TensorProto> tensors;
  std::vector<GraphProto> graphs;
  std::vector<SparseTensorProto> sparse_tensors;
  std::vector<TypeProto> types;
};

struct NodeProto {
  std::string_view name, op, domain, overload;  // the domain of the standard is ""
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeProto> attributes;

  const AttributeProto* find(std::string_view attribute) const;  // null where there is none
  std::string_view first_output() const;                         // empty where all are left out
  std::string_view label() const { return name.empty() ? first_output() : name; }
};

struct GraphProto {
  std::string_view name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initialisers;
  std::vector<SparseTensorProto> sparse_initialisers;
  std::vector<ValueInfoProto> inputs, outputs;
};

struct OpsetId {
  std::string_view domain;
  std::int64_t version = 0;
};

struct FunctionProto {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<AttributeProto> defaults;  // of its attributes
  std::vector<NodeProto> nodes;
  std::vector<OpsetId> opsets;
};

struct ModelProto {
  std::int64_t ir_version = 0;
  std::vector<OpsetId> opsets;
  GraphProto graph;
  std::vector<FunctionProto> functions;
  std::vector<std::pair<std::string_view, std::string_view>> metadata;
};

// What files beside a model hold: a value of an input or output.
struct ValueProto {
  TypeProto::Kind kind = TypeProto::Tensor;
  TensorProto tensor;
  std::vector<ValueProto> parts;  // of a sequence or map; of an optional one, or none
  std::vector<std::variant<std::int64_t, std::string>> keys;  // of a map
};

// These throw where bytes are not what they should be.
ModelProto parse_model(Bytes bytes, const InFile& in);
TensorProto parse_tensor(Bytes bytes, const InFile& in);
ValueProto parse_value(Bytes bytes, TypeProto::Kind kind, const InFile& in);

}  // namespace weft::onnx
