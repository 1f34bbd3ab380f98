// The nodes of a graph in the order in which they run, each with what runs it.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "op.h"
#include "proto.h"

namespace weft::onnx {

// The line of the tables that holds for this opset; null where there is none.
const Op* find_op(std::string_view domain, std::string_view name, std::int64_t opset);
// The first opset that these tables have it for; 0 where they do not have it.
std::int64_t first_opset_of(std::string_view domain, std::string_view name);

struct Step {
  const NodeProto* node;
  const Op* op;                   // null: a function of the model, or nothing runs it
  const FunctionProto* function;  // null: an operator
  std::int64_t opset;
  std::vector<std::string_view> reads;  // its inputs, and what graphs in it take from around them
  bool draws;                           // random numbers, itself
  bool is_random;                       // it draws, or something in it does
};

struct Plan {
  std::vector<Step> steps;  // only those that an output needs
  std::vector<std::string_view>
      reads_around;  // names that no node, input or initialiser of the graph is
};

// Of the graphs and functions of a model, made when they are first asked for.
class Plans {
 public:
  explicit Plans(const ModelProto& model) : model_(model) {}

  const Plan& of_graph(const GraphProto& graph, const std::vector<OpsetId>& opsets);
  const Plan& of_function(const FunctionProto& function);
  // Every operator that `plan` runs, also within graphs and functions.
  std::vector<OpUse> uses(const Plan& plan, const std::vector<OpsetId>& opsets);

 private:
  struct Source;
  class Uses;
  Plan made(const Source& source);
  Step step(const NodeProto& node, const std::vector<OpsetId>& opsets);
  const FunctionProto* find_function(const NodeProto& node) const;

  const ModelProto& model_;
  std::unordered_map<const void*, std::unique_ptr<const Plan>> plans_;
  std::vector<const FunctionProto*> entered_;  // functions whose plan is being made
};

}  // namespace weft::onnx
