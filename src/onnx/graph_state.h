// A model under construction.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/onnx_writer.h>

namespace weft::onnx {

struct NodeDraft {
  std::string name, op, domain;
  Names inputs, outputs;
  Attributes attributes;
};

// What the graphs of a model share.
struct ModelState {
  std::map<std::string, int> opsets;  // by domain; that of the standard is ""
  std::vector<std::pair<std::string, std::string>> metadata;
  std::map<std::string, int> counts;  // of nodes by operator, for their names
};

struct GraphState {
  std::string name;
  std::shared_ptr<ModelState> model;
  std::shared_ptr<GraphState> around;  // null: the model's own graph, and what attributes hold
  std::vector<NodeDraft> nodes;
  std::vector<std::pair<std::string, Value>> constants;
  std::vector<Port> inputs, outputs;
  std::set<std::string, std::less<>> names;      // of values
  std::set<std::string, std::less<>> own_names;  // of outputs that the user gave no name
  // What such a name is in the file, where the value has become an output of the graph.
  std::map<std::string, std::string, std::less<>> renamed;

  // Here or in a graph around.
  bool knows(std::string_view value) const;
};

}  // namespace weft::onnx
