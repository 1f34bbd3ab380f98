// Calls of a model whose layers give their values too, to compare precisions by.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/settings.h>

#include "model_state.h"

namespace weft::onnx {

// The numbers of a value, and of all in it.
std::vector<double> numbers_of(const Value& value);
// What is no number in both, or the same infinity, is equal; in one of them, it is infinitely far.
Difference difference(const std::vector<double>& values, const std::vector<double>& exact);

// While it is in force, what is f32 is multiplied and summed product by product.
inline Context plain_sums() { return {{"WINOGRAD", 0}, {"DIGITS", 0}}; }

// Layers inside of others are none here.
class Probe {
 public:
  // `beside`: all in f32 by plain sums, and each layer's value beside it as other calls compute it, in its precision.
  Probe(const std::string& path, const LoadOptions& options, bool beside = false);

  void call(const NamedValues& inputs);

  const std::vector<PlacedLayer>& layers() const { return state_->layers; }
  const std::vector<Port>& outputs() const { return state_->outputs; }
  // Of the last call; the first: how many a layer sums.
  double products(std::size_t layer) const { return products_.at(layer); }
  const std::vector<double>& numbers(std::string_view name) const {
    return numbers_.find(name)->second;
  }

 private:
  std::vector<ValueInfoProto>& watched() { return state_->proto.graph.outputs; }
  void watch(std::string_view name);
  void count_products(const Values& all);
  Values called(const NamedValues& inputs);  // what comes first is computed

  std::shared_ptr<Model::State> state_;
  bool beside_;
  // Of what is watched: what the model gives by itself, then what is computed of that, then factors, only to be looked at.
  std::size_t first_ = 0, computed_ = 0;
  std::vector<double> products_;
  std::map<std::string_view, std::vector<double>> numbers_;
};

}  // namespace weft::onnx
