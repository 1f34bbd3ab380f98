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
  // An instruction multiplies matrices of bytes. Others take longer to convolve in integers than in floats, whose sums are
  // exact up to 2^24 and round beyond as the file's own do.
  bool multiplies_bytes = false;
  bool multiplies_alike = false;  // also two that are signed, or two that are not
  bool has_byte_tiles = false;    // it multiplies rows of both
};

// Rewrites the nodes of the model's own graph, which has no cycles, until no rule applies. New names are kept in
// `names`.
void clean_up(ModelProto& model, std::deque<std::string>& names, const CleanupRules& rules);

}  // namespace weft::onnx
