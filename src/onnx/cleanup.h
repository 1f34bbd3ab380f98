// What makes a model's graph smaller before it runs.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "proto.h"

namespace weft::onnx {

struct CleanupRules {
  bool trainable = false;  // weights change between calls: they are left as they are
};

// Rewrites the nodes of the model's own graph, which has no cycles, until no rule applies. New names are kept in
// `names`.
void clean_up(ModelProto& model, std::deque<std::string>& names, const CleanupRules& rules);

}  // namespace weft::onnx
