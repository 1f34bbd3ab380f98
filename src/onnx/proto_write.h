// ONNX files, written.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proto.h"

namespace weft::onnx {

// TensorProtos by the places of the initialisers that they replace.
using Replacements = std::map<std::size_t, std::string>;

// The model, in every other respect as it is.
std::string with_initialisers(Bytes model, const Replacements& replacements, const InFile& in);

// Messages of the model's own graph that others replace: of nodes by their places, of initialisers as well; none take
// one away. What is new comes behind those that there are.
struct GraphEdits {
  std::map<std::size_t, std::vector<std::string>> nodes, initialisers;
  std::vector<std::string> first_nodes, new_initialisers, new_outputs;
  std::vector<OpsetId> new_opsets;
};

// The model so changed. Initialisers are constants from then on, and no inputs as in old versions of the format.
std::string edited(Bytes model, const GraphEdits& edits, const InFile& in);

// The nodes of the model's own graph as they lie in the file.
std::vector<std::string_view> node_messages(Bytes model);

// A NodeProto with other inputs.
std::string with_inputs(std::string_view node, const std::vector<std::string>& inputs);

struct NewNode {
  std::string_view op, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes = {};  // AttributeProtos
};
std::string encoded(const NewNode& node);
std::string encoded_attribute(std::string_view name, std::int64_t value);
std::vector<std::string> attributes_of(std::string_view node);

// A ValueInfoProto of floats whose shape nobody says.
std::string encoded_output(std::string_view name);

// A StringStringEntryProto.
std::string encoded_entry(std::string_view key, std::string_view value);

// A file of ONNX has fewer than 2 GB.
void check_size(const std::string& file, const InFile& in);

}  // namespace weft::onnx
