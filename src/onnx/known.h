// Integers that are known when a node is met: shape arithmetic costs no kernel, and sizes may be symbolic.
#pragma once

#include <optional>

#include "plan.h"

namespace weft::onnx {

// What the node gives where its inputs are known (Value::known), or where it only asks for a shape; nothing where it
// has to be computed.
std::optional<Values> known_values(const Call& call, const Step& step);

}  // namespace weft::onnx
