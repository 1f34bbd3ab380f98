// Which convolutions want what is around their input to lie in memory with it.

#include <algorithm>
#include <iterator>

#include "cleanup_nodes.h"

namespace weft::onnx {
namespace {

constexpr std::int64_t fewest_channels = 16;  // that a row of a tile is worth

}  // namespace

bool has_padding(const NodeProto& node) {
  const AttributeProto *pads = node.find("pads"), *automatic = node.find("auto_pad");
  return (pads != nullptr && std::ranges::count(pads->ints, 0) != std::ssize(pads->ints)) ||
         (automatic != nullptr && automatic->strings != std::vector<Name>{"NOTSET"} &&
          automatic->strings != std::vector<Name>{"VALID"});
}

bool wants_surroundings(const NodeProto& node, const TensorProto* weight) {
  return weight != nullptr && weight->dims.size() == 4 && weight->dims[1] >= fewest_channels &&
         integer(node, "group", 1) == 1 && has_padding(node);
}

}  // namespace weft::onnx
