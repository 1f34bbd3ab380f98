// A network of an ONNX file as work, and what it is called with. networks.py writes the files.
#pragma once

#include <memory>

#include <weft/onnx.h>

#include "work.h"

namespace weft::bench {

onnx::Model load_network(const nlohmann::json& one);
onnx::NamedValues network_inputs(const nlohmann::json& one);
std::unique_ptr<Work> network(const nlohmann::json& one);

}  // namespace weft::bench
