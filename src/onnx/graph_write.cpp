#include "graph_write.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>
#include <weft/error.h>
#include <protozero/pbf_writer.hpp>

#include "infer_outputs.h"
#include "proto_write.h"
#include "tensors.h"

namespace weft::onnx {
namespace {

using protozero::pbf_writer;

// The first version of the format that has such opsets, or elements.
struct Since {
  int from, version;
};
constexpr Since versions_of_opsets[] = {{28, 14}, {25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9},
                                        {15, 8},  {12, 7},  {11, 6},  {10, 5},  {1, 4}};

int version_of(Type type) {
  switch (type) {
    case Type::F8E4M3FN:
    case Type::F8E4M3FNUZ:
    case Type::F8E5M2:
    case Type::F8E5M2FNUZ: return 9;
    case Type::U4:
    case Type::I4: return 10;
    case Type::F4E2M1: return 11;
    case Type::F8E8M0: return 12;
    case Type::U2:
    case Type::I2: return 13;
    case Type::F6E2M3:
    case Type::F6E3M2: return 14;
    default: return 4;  // before it, initialisers were inputs as well
  }
}

std::string encoded(const Port& port) {
  std::string shape;
  for (const auto& size : port.shape) {
    std::string dim;
    pbf_writer to(dim);
    if (const auto* number = std::get_if<std::int64_t>(&size))
      to.add_int64(1, *number);
    else if (const auto& name = std::get<std::string>(size); !name.empty())
      to.add_string(2, name);
    pbf_writer(shape).add_message(1, dim);
  }
  std::string tensor, type, result;
  pbf_writer(tensor).add_int32(1, static_cast<std::int32_t>(port.type));
  if (port.has_shape) pbf_writer(tensor).add_message(2, shape);
  pbf_writer(type).add_message(1, tensor);
  pbf_writer(result).add_string(1, port.name);
  if (port.type != Type::Undefined) pbf_writer(result).add_message(2, type);
  return result;
}

// A graph with those around it, whose values it may name.
class GraphWriter {
 public:
  GraphWriter(const GraphState& graph, External* external, const GraphWriter* around = nullptr)
      : graph_(graph), external_(external), around_(around) {}

  // All but the outputs.
  std::string content();
  std::string whole() { return with_outputs(content(), graph_.outputs); }
  static std::string with_outputs(std::string content, const std::vector<Port>& outputs) {
    for (const Port& port : outputs) pbf_writer(content).add_message(12, encoded(port));
    return content;
  }
  // Of what was written.
  int version() const { return version_; }
  const std::vector<std::pair<std::string, Value>>& outside() const { return outside_; }

 private:
  std::string encoded_node(const NodeDraft& node);
  std::string encoded_attribute(const std::string& name, const Attribute& attribute);
  std::string encoded_tensor(const Value& value, std::string_view name) {
    version_ = std::max(version_, version_of(value.type()));
    return onnx::encoded(value, name);
  }
  std::string encoded_constant(const std::string& name, const Value& value);
  std::string final_name(const std::string& value) const;

  const GraphState& graph_;
  External* const external_;
  const GraphWriter* const around_;
  std::vector<std::pair<std::string, Value>> outside_;
  int version_ = 4;
};

// That of the innermost graph which has such a value.
std::string GraphWriter::final_name(const std::string& value) const {
  for (const GraphWriter* each = this; each != nullptr; each = each->around_) {
    if (const auto found = each->graph_.renamed.find(value); found != each->graph_.renamed.end())
      return found->second;
    if (each->graph_.names.contains(value)) return value;
  }
  return value;
}

// Values by their field, and the number of their kind.
std::string GraphWriter::encoded_attribute(const std::string& name, const Attribute& attribute) {
  std::string result;
  pbf_writer to(result);
  to.add_string(1, name);
  int kind = 0;
  const auto of_kind = [&](int number) { kind = number; };
  const auto write = [&]<class T>(const T& value) {
    if constexpr (std::same_as<T, float>) {
      to.add_float(2, value), of_kind(1);
    } else if constexpr (std::same_as<T, std::int64_t>) {
      to.add_int64(3, value), of_kind(2);
    } else if constexpr (std::same_as<T, std::string>) {
      to.add_bytes(4, value), of_kind(3);
    } else if constexpr (std::same_as<T, Value>) {
      to.add_message(5, encoded_tensor(value, name)), of_kind(4);
    } else if constexpr (std::same_as<T, std::shared_ptr<const GraphState>>) {
      GraphWriter inner(*value, nullptr, this);
      to.add_message(6, inner.whole()), of_kind(5);
      version_ = std::max(version_, inner.version());
    } else if constexpr (std::same_as<T, std::vector<float>>) {
      for (const float each : value) to.add_float(7, each);
      of_kind(6);
    } else if constexpr (std::same_as<T, std::vector<std::int64_t>>) {
      for (const std::int64_t each : value) to.add_int64(8, each);
      of_kind(7);
    } else if constexpr (std::same_as<T, std::vector<std::string>>) {
      for (const std::string& each : value) to.add_bytes(9, each);
      of_kind(8);
    } else {
      for (const Value& each : value) to.add_message(10, encoded_tensor(each, name));
      of_kind(9);
    }
  };
  std::visit(write, attribute.held());
  to.add_int32(20, kind);
  return result;
}

std::string GraphWriter::encoded_node(const NodeDraft& node) {
  std::string result;
  pbf_writer to(result);
  for (const std::string& input : node.inputs) to.add_string(1, final_name(input));
  for (const std::string& output : node.outputs) to.add_string(2, final_name(output));
  to.add_string(3, node.name);
  to.add_string(4, node.op);
  for (const auto& [name, value] : node.attributes)
    to.add_message(5, encoded_attribute(name, value));
  if (!node.domain.empty()) to.add_string(7, node.domain);
  return result;
}

std::string GraphWriter::encoded_constant(const std::string& name, const Value& value) {
  if (external_ == nullptr || !external_->takes(value)) return encoded_tensor(value, name);
  outside_.emplace_back(name, value);
  version_ = std::max(version_, version_of(value.type()));
  const std::string file = std::filesystem::path(external_->path()).filename().string();
  return encoded_outside(value, name, file, external_->add(value));
}

std::string GraphWriter::content() {
  std::string result;
  pbf_writer to(result);
  for (const NodeDraft& node : graph_.nodes) to.add_message(1, encoded_node(node));
  to.add_string(2, graph_.name);
  for (const auto& [name, value] : graph_.constants)
    to.add_message(5, encoded_constant(name, value));
  for (const Port& port : graph_.inputs) {
    version_ = std::max(version_, version_of(port.type));
    to.add_message(11, encoded(port));
  }
  return result;
}

std::string model_with(const GraphState& graph, const std::string& content, int version) {
  const int opset = graph.model->opsets.at("");
  const auto* by_opset = std::ranges::find_if(
      versions_of_opsets, [&](const Since& since) { return since.from <= opset; });
  std::string result;
  pbf_writer to(result);
  to.add_int64(1, std::max(version, by_opset->version));
  to.add_string(2, "weft");
  to.add_message(7, content);
  for (const auto& [domain, number] : graph.model->opsets) {
    std::string id;
    pbf_writer(id).add_string(1, domain);
    pbf_writer(id).add_int64(2, number);
    to.add_message(8, id);
  }
  for (const auto& [key, value] : graph.model->metadata)
    to.add_message(14, encoded_entry(key, value));
  return result;
}

}  // namespace

bool External::takes(const Value& value) const {
  return from_bytes > 0 && value.is_tensor() && raw_size(value) >= from_bytes;
}

std::size_t External::add(const Value& value) {
  constexpr std::size_t page = 4096;
  const std::size_t place = (size + page - 1) / page * page;
  pieces.emplace_back(value, place);
  size = place + raw_size(value);
  return place;
}

void External::write(NewFile& file) const {
  std::size_t at = 0;
  for (const auto& [value, place] : pieces) {
    file.write(std::string(place - at, '\0'));
    file.write(raw_elements(value));
    at = place + raw_size(value);
  }
}

std::string encoded_model(const GraphState& graph, External* external) {
  if (graph.outputs.empty())
    user_error(fmt::format("onnx: graph '{}': it has no outputs", graph.name));
  GraphWriter writer(graph, external);
  const std::string content = writer.content();
  const auto whole = [&](const std::vector<Port>& outputs) {
    return model_with(graph, GraphWriter::with_outputs(content, outputs), writer.version());
  };
  const auto lacks_type = [](const Port& port) { return port.type == Type::Undefined; };
  std::vector<Port> outputs = graph.outputs, open;
  std::ranges::copy_if(outputs, std::back_inserter(open), lacks_type);
  if (!open.empty()) try {
      open = inferred_outputs(graph.inputs, open, whole(open), writer.outside());
    } catch (const Error& error) {
      user_error(
          fmt::format("onnx: graph '{}': nobody said what shapes its outputs have, and they "
                      "cannot be found: {}",
                      graph.name, error.what()));
    }
  auto found = open.begin();
  for (Port& port : outputs)
    if (lacks_type(port)) port = *found++;
  std::string result = whole(outputs);
  check_size(result, InFile{external == nullptr ? graph.name : external->model_path});
  return result;
}

}  // namespace weft::onnx
