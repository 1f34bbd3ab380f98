#include "proto_write.h"

#include <limits>
#include <set>

#include <fmt/format.h>
#include <weft/dev/io/file.h>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "tensors.h"

namespace weft::onnx {
namespace {

// Numbers of fields.
enum : protozero::pbf_tag_type {
  version_of_model = 1,
  graph_of_model = 7,
  opset_of_model = 8,
  node_of_graph = 1,
  initialiser_of_graph = 5,
  input_of_graph = 11,
  output_of_graph = 12,
  input_of_node = 1,
  attribute_of_node = 5,
};

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Copies fields as they are, but messages for which `replace` writes something else, or nothing, and says so.
template <class Replace>
std::string copied(std::string_view message, Replace replace) {
  std::string result;
  protozero::pbf_reader reader(message.data(), message.size());
  for (std::string_view rest = message; reader.next();) {
    bool is_replaced = false;
    if (reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
      const protozero::pbf_tag_type field = reader.tag();  // lost once the view is taken
      const protozero::data_view view = reader.get_view();
      is_replaced =
          replace(protozero::pbf_writer(result), field, std::string_view(view.data(), view.size()));
    } else {
      reader.skip();
    }
    if (!is_replaced) result.append(rest.substr(0, rest.size() - reader.length()));
    rest = message.substr(message.size() - reader.length());
  }
  return result;
}

void add(protozero::pbf_writer& to, protozero::pbf_tag_type field,
         const std::vector<std::string>& messages) {
  for (const std::string& each : messages) to.add_message(field, each);
}

// All of a TensorProto but the elements of a tensor.
std::string header_of(const Value& value, std::string_view name) {
  std::string result;
  protozero::pbf_writer writer(result);
  const auto shape = value.is_text() ? value.text().shape : value.tensor().shape();
  for (const std::int64_t size : shape) writer.add_int64(1, size);
  writer.add_int32(2, static_cast<std::int32_t>(value.type()));
  if (value.is_text())
    for (const std::string& each : value.text().values) writer.add_bytes(6, each);
  writer.add_string(8, name.data(), name.size());
  return result;
}

}  // namespace

std::string encoded_entry(std::string_view key, std::string_view value) {
  std::string result;
  protozero::pbf_writer writer(result);
  writer.add_string(1, key.data(), key.size());
  writer.add_string(2, value.data(), value.size());
  return result;
}

std::vector<std::byte> raw_elements(const Value& value) {
  const Tensor tensor = value.tensor();
  std::vector<std::byte> bytes(tensor.nbytes());
  tensor.to_bytes(bytes);
  return bits_of(value.type()) < 8 ? packed(value.type(), bytes) : bytes;
}

std::size_t raw_size(const Value& value) {
  const auto count = static_cast<std::size_t>(value.tensor().numel());
  return (count * static_cast<std::size_t>(bits_of(value.type())) + 7) / 8;
}

std::string encoded(const Value& value, std::string_view name) {
  std::string result = header_of(value, name);
  if (value.is_text()) return result;
  const std::vector<std::byte> bytes = raw_elements(value);
  const std::string_view text = text_of(bytes);
  protozero::pbf_writer(result).add_bytes(9, protozero::data_view(text.data(), text.size()));
  return result;
}

std::string encoded_outside(const Value& value, std::string_view name, const std::string& file,
                            std::size_t offset) {
  std::string result = header_of(value, name);
  protozero::pbf_writer writer(result);
  const std::pair<std::string_view, std::string> entries[] = {
      {"location", file},
      {"offset", fmt::to_string(offset)},
      {"length", fmt::to_string(raw_size(value))}};
  for (const auto& [key, text] : entries) writer.add_message(13, encoded_entry(key, text));
  writer.add_int32(14, 1);  // external
  return result;
}

void check_size(const std::string& file, const InFile& in) {
  if (file.size() > std::size_t(std::numeric_limits<std::int32_t>::max()))
    in.fail(fmt::format("{} bytes are more than a file of ONNX may have", file.size()));
}

std::string with_initialisers(Bytes model, const Replacements& replacements, const InFile& in) {
  std::size_t next = 0;
  const std::string result = copied(text_of(model), [&](auto to, auto field, auto graph) {
    if (field != graph_of_model) return false;
    to.add_message(field, copied(graph, [&](auto into, auto inner, auto) {
                     if (inner != initialiser_of_graph) return false;
                     const auto found = replacements.find(next++);
                     if (found == replacements.end()) return false;
                     into.add_message(inner, found->second);
                     return true;
                   }));
    return true;
  });
  check_size(result, in);
  return result;
}

namespace {

// The first field of a ValueInfoProto, or the eighth of a TensorProto.
std::string_view name_in(std::string_view message, protozero::pbf_tag_type field) {
  protozero::pbf_reader reader(message.data(), message.size());
  if (!reader.next(field)) return {};
  const protozero::data_view view = reader.get_view();
  return {view.data(), view.size()};
}

std::string edited_graph(std::string_view graph, const GraphEdits& edits) {
  constexpr protozero::pbf_tag_type name_of_input = 1, name_of_tensor = 8;
  std::string result;
  protozero::pbf_writer writer(result);
  add(writer, node_of_graph, edits.first_nodes);
  std::set<std::string_view> constants;
  protozero::pbf_reader reader(graph.data(), graph.size());
  while (reader.next(initialiser_of_graph)) {
    const protozero::data_view view = reader.get_view();
    constants.insert(name_in({view.data(), view.size()}, name_of_tensor));
  }
  std::size_t nodes = 0, initialisers = 0;
  result += copied(graph, [&](auto to, auto field, auto message) {
    if (field == input_of_graph) return constants.contains(name_in(message, name_of_input));
    const bool is_node = field == node_of_graph;
    if (!is_node && field != initialiser_of_graph) return false;
    const auto& all = is_node ? edits.nodes : edits.initialisers;
    const auto found = all.find(is_node ? nodes++ : initialisers++);
    if (found == all.end()) return false;
    add(to, field, found->second);
    return true;
  });
  add(writer, initialiser_of_graph, edits.new_initialisers);
  add(writer, output_of_graph, edits.new_outputs);
  return result;
}

}  // namespace

std::string edited(Bytes model, const GraphEdits& edits, const InFile& in) {
  constexpr std::int64_t least_version = 4;  // the first whose initialisers are no inputs
  std::int64_t version = 0;
  const std::string_view text = text_of(model);
  protozero::pbf_reader reader(text.data(), text.size());
  if (reader.next(version_of_model)) version = reader.get_int64();
  std::string result = copied(text, [&](auto to, auto field, auto graph) {
    if (field == graph_of_model) to.add_message(field, edited_graph(graph, edits));
    return field == graph_of_model;
  });
  protozero::pbf_writer writer(result);
  // Of a field that is there twice, the last one counts.
  if (version < least_version) writer.add_int64(version_of_model, least_version);
  for (const OpsetId& each : edits.new_opsets) {
    std::string id;
    protozero::pbf_writer(id).add_string(1, each.domain.data(), each.domain.size());
    protozero::pbf_writer(id).add_int64(2, each.version);
    writer.add_message(opset_of_model, id);
  }
  check_size(result, in);
  return result;
}

std::vector<std::string_view> node_messages(Bytes model) {
  std::vector<std::string_view> result;
  const std::string_view text = text_of(model);
  protozero::pbf_reader reader(text.data(), text.size());
  while (reader.next(graph_of_model)) {
    protozero::pbf_reader graph = reader.get_message();
    while (graph.next(node_of_graph)) {
      const protozero::data_view view = graph.get_view();
      result.emplace_back(view.data(), view.size());
    }
  }
  return result;
}

std::string with_inputs(std::string_view node, const std::vector<std::string>& inputs) {
  std::string result;
  protozero::pbf_writer writer(result);
  for (const std::string& each : inputs) writer.add_string(input_of_node, each);
  return result + copied(node, [](auto, auto field, auto) { return field == input_of_node; });
}

std::string encoded(const NewNode& node) {
  std::string result;
  protozero::pbf_writer to(result);
  for (const std::string& each : node.inputs) to.add_string(input_of_node, each);
  for (const std::string& each : node.outputs) to.add_string(2, each);
  to.add_string(3, node.outputs[0] + "_" + std::string(node.op));
  to.add_string(4, node.op.data(), node.op.size());
  add(to, attribute_of_node, node.attributes);
  if (!node.domain.empty()) to.add_string(7, node.domain.data(), node.domain.size());
  return result;
}

std::string encoded_attribute(std::string_view name, std::int64_t value) {
  constexpr std::int32_t integer = 2;
  std::string result;
  protozero::pbf_writer to(result);
  to.add_string(1, name.data(), name.size());
  to.add_int64(3, value);
  to.add_int32(20, integer);
  return result;
}

std::vector<std::string> attributes_of(std::string_view node) {
  std::vector<std::string> result;
  protozero::pbf_reader reader(node.data(), node.size());
  while (reader.next(attribute_of_node)) result.push_back(reader.get_string());
  return result;
}

std::string encoded_output(std::string_view name) {
  std::string tensor, type, result;
  protozero::pbf_writer(tensor).add_int32(1, static_cast<std::int32_t>(Type::F32));
  protozero::pbf_writer(type).add_message(1, tensor);
  protozero::pbf_writer to(result);
  to.add_string(1, name.data(), name.size());
  to.add_message(2, type);
  return result;
}

}  // namespace weft::onnx
