// Calls of a model by files of samples, each with values for all of its inputs.
#pragma once

#include <vector>

#include "commands.h"

namespace weft::cli {

// One for each sample in the files that options.samples names, or is a folder of; without any, the one of options.inputs.
std::vector<onnx::NamedValues> model_calls(const onnx::Model& model, const ModelOptions& options,
                                           const ImageOptions& images);

}  // namespace weft::cli
