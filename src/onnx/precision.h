// Layers in cheaper numbers.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <weft/dev/ir/kind_set.h>

#include "proto.h"

namespace weft::onnx {

struct PrecisionRules {
  Precision all = Precision::F32;
  const Precisions& layers;
  // Layers of the model's own graph stay as they are. What each gives of these inputs in its precision, which may be f32, is a
  // value beside its own.
  bool beside = false;
  // What instructions multiply matrices of, and tiles of them.
  KindSet multiplied = {}, tiled = {};
};

// A layer, and the values that it multiplies, as they are in f32.
struct PlacedLayer {
  Layer layer;
  std::vector<std::string_view> factors;
  std::string_view beside = {};  // what is beside its first output
  std::string_view apart = {};   // the factor of that in memory of its own, where it is one in f32
};

// Rewrites layers, also those in graphs within nodes and in functions, to multiply in the precision that is asked for.
// New names are kept in `names`.
std::vector<PlacedLayer> lower_precision(ModelProto& model, std::deque<std::string>& names,
                                         const PrecisionRules& rules);

}  // namespace weft::onnx
