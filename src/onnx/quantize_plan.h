// What of a model of floats is to be of integers.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/onnx_quantize.h>
#include <weft/onnx_writer.h>

#include "proto_write.h"
#include "tensors.h"

namespace weft::onnx {

// A model as it is in its file, which is neither planned nor cleaned up.
struct Original {
  explicit Original(const std::string& path);

  std::int64_t opset() const;  // of the standard
  std::vector<float> floats(const TensorProto& tensor) const;

  InFile in;
  std::shared_ptr<const Mapping> file;
  std::string folder;
  ModelProto proto;
  Weights weights;
};

// A convolution or matrix product by constant weights.
struct Site {
  std::size_t node;  // its place
  const TensorProto* weights;
  const TensorProto* bias;  // null where there is none, or none of constant floats
  std::int64_t axis;        // of the weights: their channels
};

struct QuantizePlan {
  std::vector<Site> products;
  std::size_t others = 0;                     // that stay as they are
  std::vector<std::string_view> activations;  // values that become bytes
  // The second has elements of the first, both of them activations.
  std::vector<std::pair<std::string_view, std::string_view>> alike;
};

QuantizePlan plan_of(ModelProto& model, const QuantizeOptions& options);
bool is_excluded(const NodeProto& node, const QuantizeOptions& options);

// Weights in steps from -127 to 127, by one scale or one for each channel.
struct IntegerWeights {
  std::vector<std::int8_t> steps;
  std::vector<float> scales;
};
// What is added to sums in their steps may need larger ones: `least_scales` of the channels, or none.
IntegerWeights integer_weights(const Original& model, const Site& site, bool per_channel,
                               std::span<const double> least_scales);

// What a quantiser adds to a model: names that nothing has yet, and constants.
class Additions {
 public:
  explicit Additions(const Original& model);

  GraphEdits edits;
  std::string fresh(const std::string& base);
  std::string constant(const std::string& base, const Tensor& value);
  // Initialisers that nodes read less often than before; those that nobody reads go.
  void note_gone(const TensorProto& initialiser) { --uses_[initialiser.name]; }
  std::string file();

 private:
  const Original& model_;
  std::set<std::string, std::less<>> names_;
  std::map<std::string_view, int> uses_;
};

}  // namespace weft::onnx
