// A model under construction, as a ModelProto.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <weft/dev/io/file.h>

#include "graph_state.h"

namespace weft::onnx {

// Constants in a file beside the model's.
struct External {
  std::string model_path;
  std::size_t from_bytes;  // those of fewer stay in the model; 0: all do
  std::vector<std::pair<Value, std::size_t>> pieces = {};  // with their places
  std::size_t size = 0;

  std::string path() const { return model_path + ".data"; }
  bool takes(const Value& value) const;
  // Its place, where memory can be mapped.
  std::size_t add(const Value& value);
  void write(NewFile& file) const;
};

// Finds what outputs are where nobody said so. `external` may be null.
std::string encoded_model(const GraphState& graph, External* external);

}  // namespace weft::onnx
