// What the outputs of a graph are, for inputs of open sizes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <weft/onnx.h>

namespace weft::onnx {

// `file` is a model of these inputs and outputs; `outside` are the constants that are not in it. Throws where
// operators are not supported, or where values decide about shapes.
std::vector<Port> inferred_outputs(const std::vector<Port>& inputs,
                                   const std::vector<Port>& outputs, const std::string& file,
                                   const std::vector<std::pair<std::string, Value>>& outside);

}  // namespace weft::onnx
