// Cases of the ONNX standard: a model, and values of its inputs and outputs in files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands.h"

namespace weft::cli {

struct OnnxCase {
  std::string name;
  std::filesystem::path model;
};

// Those in a folder and all folders in it, in order. A case is a folder with a model.onnx and the folders test_data_set_N,
// or a file light_NAME.onnx beside light_NAME_output_0.pb, whose inputs are ramps.
std::vector<OnnxCase> find_onnx_cases(const std::vector<std::string>& folders);

struct OnnxOutcome {
  enum Kind : char { Passed = 'P', Failed = 'F', Unsupported = 'U' };
  Kind kind = Passed;
  std::string why;
};

OnnxOutcome run_onnx_case(const OnnxCase& which, const OnnxTestOptions& options);

}  // namespace weft::cli
