#include "proto_write.h"

#include <limits>

#include <fmt/format.h>
#include <weft/dev/io/file.h>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "tensors.h"

namespace weft::onnx {
namespace {

constexpr protozero::pbf_tag_type graph_of_model = 7, initialiser_of_graph = 5;

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Copies fields as they are, but those of one number, which `replace` writes.
template <class Replace>
std::string copied(std::string_view message, protozero::pbf_tag_type number, Replace replace) {
  std::string result;
  protozero::pbf_reader reader(message.data(), message.size());
  for (std::string_view rest = message; reader.next();) {
    if (reader.tag() == number) {
      const protozero::data_view view = reader.get_view();
      replace(protozero::pbf_writer(result), std::string_view(view.data(), view.size()));
    } else {
      reader.skip();
      result.append(rest.substr(0, rest.size() - reader.length()));
    }
    rest = message.substr(message.size() - reader.length());
  }
  return result;
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
  const std::string result = copied(text_of(model), graph_of_model, [&](auto to, auto graph) {
    const std::string changed = copied(graph, initialiser_of_graph, [&](auto into, auto given) {
      const auto found = replacements.find(next++);
      const std::string_view now = found == replacements.end() ? given : found->second;
      into.add_message(initialiser_of_graph, now.data(), now.size());
    });
    to.add_message(graph_of_model, changed);
  });
  check_size(result, in);
  return result;
}

}  // namespace weft::onnx
