// What models give: as lines, as JSON, as files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <weft/onnx.h>

namespace weft::cli {

// Outputs by name, in the model's order. Parts of sequences and maps stand for these: scores[0], scores[cat].
using Outputs = std::vector<std::pair<std::string, onnx::Value>>;
Outputs outputs_of(const onnx::Model& model, const onnx::NamedValues& values);

// "scores  float (1, 10)  min -1 max 3 mean 0.5  [0.25, ...]"
std::string line_of(const std::string& name, const onnx::Value& value);
std::string json_of(const std::string& name, const onnx::Value& value);

// NAME.npy, of strings NAME.txt: what file names may not have is _.
void save_outputs(const Outputs& outputs, const std::string& folder);

// The highest elements along the last axis, of its first row.
struct Score {
  std::size_t place;
  double value;
  std::string label;  // empty where there is none
};
std::vector<Score> best_of(const onnx::Value& value, std::size_t count,
                           const std::vector<std::string>& labels);

}  // namespace weft::cli
