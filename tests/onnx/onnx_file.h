// ONNX files for tests, written field by field.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/onnx.h>
#include <protozero/pbf_writer.hpp>

namespace weft::onnx_file {

using Sizes = std::vector<std::int64_t>;

// A message under construction: what field() and others add is in order.
class Message {
 public:
  Message& text(unsigned field, std::string_view value) {
    protozero::pbf_writer(bytes_).add_string(field, value.data(), value.size());
    return *this;
  }
  Message& integer(unsigned field, std::int64_t value) {
    protozero::pbf_writer(bytes_).add_int64(field, value);
    return *this;
  }
  Message& real(unsigned field, float value) {
    protozero::pbf_writer(bytes_).add_float(field, value);
    return *this;
  }
  Message& message(unsigned field, const Message& value) { return text(field, value.bytes_); }
  template <class Number>
  Message& raw(unsigned field, const std::vector<Number>& values) {
    return text(field,
                {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)});
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

inline Message tensor(std::string_view name, onnx::Type type, const Sizes& dims) {
  Message result;
  for (const std::int64_t size : dims) result.integer(1, size);
  return result.integer(2, static_cast<std::int64_t>(type)).text(8, name);
}
inline Message tensor(std::string_view name, const Sizes& dims, const std::vector<float>& values) {
  return tensor(name, onnx::Type::F32, dims).raw(9, values);
}
inline Message tensor(std::string_view name, const Sizes& dims,
                      const std::vector<std::int64_t>& values) {
  return tensor(name, onnx::Type::I64, dims).raw(9, values);
}

// A value of that type; a size below 0 is the dimension "N".
inline Message port(std::string_view name, onnx::Type type, const Sizes& dims) {
  Message shape;
  for (const std::int64_t size : dims)
    shape.message(1, size < 0 ? Message().text(2, "N") : Message().integer(1, size));
  const Message of = Message().integer(1, static_cast<std::int64_t>(type)).message(2, shape);
  return Message().text(1, name).message(2, Message().message(1, of));
}

inline Message attribute(std::string_view name, std::int64_t value) {
  return Message().text(1, name).integer(3, value).integer(20, 2);
}
inline Message attribute(std::string_view name, const Sizes& values) {
  Message result = Message().text(1, name);
  for (const std::int64_t value : values) result.integer(8, value);
  return result.integer(20, 7);
}
inline Message attribute(std::string_view name, std::string_view value) {
  return Message().text(1, name).text(4, value).integer(20, 3);
}
inline Message attribute(std::string_view name, const std::vector<std::string>& values) {
  Message result = Message().text(1, name);
  for (const std::string& value : values) result.text(9, value);
  return result.integer(20, 8);
}
inline Message attribute(std::string_view name, const std::vector<float>& values) {
  Message result = Message().text(1, name);
  for (const float value : values) result.real(7, value);
  return result.integer(20, 6);
}
inline Message graph_attribute(std::string_view name, const Message& graph) {
  return Message().text(1, name).message(6, graph).integer(20, 5);
}

using Names = std::vector<std::string_view>;

inline Message node(std::string_view op, const Names& inputs, const Names& outputs,
                    const std::vector<Message>& attributes = {}, std::string_view domain = {}) {
  Message result;
  for (const std::string_view each : inputs) result.text(1, each);
  for (const std::string_view each : outputs) result.text(2, each);
  result.text(3, op).text(4, op);
  for (const Message& each : attributes) result.message(5, each);
  return domain.empty() ? result : result.text(7, domain);
}

struct Graph {
  std::vector<Message> nodes, initialisers, inputs, outputs;

  Message message() const {
    Message result;
    for (const Message& each : nodes) result.message(1, each);
    for (const Message& each : initialisers) result.message(5, each);
    for (const Message& each : inputs) result.message(11, each);
    for (const Message& each : outputs) result.message(12, each);
    return result.text(2, "graph");
  }
};

inline Message opset(std::int64_t version, std::string_view domain = {}) {
  return Message().text(1, domain).integer(2, version);
}

inline std::string model(const Graph& graph, std::int64_t version = 18,
                         const std::vector<Message>& functions = {}) {
  Message result = Message().integer(1, 8).message(8, opset(version)).message(7, graph.message());
  for (const Message& each : functions) result.message(25, each);
  return result.bytes();
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline onnx::Model load(const Graph& graph, std::int64_t version = 18,
                        const onnx::LoadOptions& options = {}) {
  return onnx::Model::parse(bytes_of(model(graph, version)), options);
}

}  // namespace weft::onnx_file
