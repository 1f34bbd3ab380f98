// What models are called with: values in files of many kinds, or made up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <weft/onnx.h>

#include "commands.h"
#include "recorded_call.h"

namespace weft::cli {

// From now on tensors are on the device, and computed by the threads, that are asked for.
void use_device(const ModelOptions& options);

// Opens the file on the device, with the threads and in the precisions that are asked for.
onnx::Model load_model(const ModelOptions& options);
onnx::LoadOptions load_options(const ModelOptions& options);

// Floats from 0 to 1, true, or integers 0, 1, 2 ...; not computed yet.
Tensor made_up(const std::vector<std::int64_t>& shape, DType dtype);

// A value for each input: from the file that is named, a number or "random" in place of one; random for others. Throws
// for names that no input has.
onnx::NamedValues model_inputs(const onnx::Model& model,
                               const std::map<std::string, std::string>& files,
                               const ImageOptions& images);

// A call of the model on these inputs, after one that computes its constants.
RecordedCall recorded(const onnx::Model& model, const onnx::NamedValues& inputs);

// Inputs with sizes that neither the file nor --shape says: where they are made up, these are 1.
std::vector<std::string> open_inputs(const onnx::Model& model);

// "float (1, 3, height, width)"
std::string port_text(const onnx::Port& port);

}  // namespace weft::cli
