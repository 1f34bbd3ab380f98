// Calls of a model whose layers give their values too, to compare precisions by.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model_state.h"

namespace weft::onnx {

// The numbers of a value, and of all in it.
std::vector<double> numbers_of(const Value& value);
// What is no number in both, or the same infinity, is equal; in one of them, it is infinitely far.
Difference difference(const std::vector<double>& values, const std::vector<double>& exact);

// One call. Layers inside of others are none here.
class Probe {
 public:
  // `beside`: all in f32, and each layer's value in its precision beside it.
  Probe(const std::string& path, const LoadOptions& options, const NamedValues& inputs,
        bool beside = false);

  const std::vector<PlacedLayer>& layers() const { return state_->layers; }
  const std::vector<Port>& outputs() const { return state_->outputs; }
  double products(std::size_t layer) const { return products_.at(layer); }  // that it sums
  const std::vector<double>& numbers(std::string_view name) const {
    return numbers_.find(name)->second;
  }

 private:
  std::vector<ValueInfoProto>& watched() { return state_->proto.graph.outputs; }
  void watch(std::string_view name);
  void call(const NamedValues& inputs, std::size_t computed);

  std::shared_ptr<Model::State> state_;
  std::vector<double> products_;
  std::map<std::string_view, std::vector<double>> numbers_;
};

}  // namespace weft::onnx
