// DynamicQuantizeLinear before products of integers, and what makes floats of their sums.
#include <weft/onnx_quantize.h>

#include <fmt/format.h>
#include <weft/error.h>

#include "cleanup_nodes.h"
#include "quantize_plan.h"

namespace weft::onnx {
namespace {

class DynamicQuantizer {
 public:
  DynamicQuantizer(const Original& original, const QuantizeOptions& options)
      : original_(original), options_(options), added_(original) {}

  // False where the node has to stay as it is.
  bool replace(const Site& site, std::string_view message) {
    const NodeProto& node = original_.proto.graph.nodes[site.node];
    const bool has_other_bias = has_input(node, 2) && site.bias == nullptr;
    const bool is_conv = node.op == "Conv";
    if (has_other_bias || integer(node, "transA", 0) != 0) return false;
    std::vector<std::string> nodes;
    const auto add = [&](std::string_view op, Names inputs, std::string_view result,
                         std::vector<std::string> attributes = {}) {
      const std::string output = added_.fresh(fmt::format("{}_{}", node.outputs[0], result));
      nodes.push_back(encoded(NewNode{op, "", std::move(inputs), {output}, std::move(attributes)}));
      return output;
    };
    const Dynamic x = quantised(node.inputs[0], nodes);
    const auto [weights, scale] = weights_of(site, node);
    const std::string sums =
        add(is_conv ? "ConvInteger" : "MatMulInteger", {x.bytes, weights, x.zero}, "sums",
            is_conv ? attributes_of(message) : std::vector<std::string>());
    const std::string floats = add("Cast", {sums}, "floats", {encoded_attribute("to", 1)});
    const std::string steps = add("Mul", {x.scale, scale}, "scale");
    Names last{floats, steps};
    if (site.bias != nullptr) {
      last = {add("Mul", last, "product"), bias_of(site, is_conv)};
      added_.note_gone(*site.bias);
    }
    nodes.push_back(encoded(NewNode{site.bias == nullptr ? "Mul" : "Add",
                                    "",
                                    std::move(last),
                                    {std::string(node.outputs[0])}}));
    added_.note_gone(*site.weights);
    added_.edits.nodes[site.node] = std::move(nodes);
    return true;
  }
  std::string file() { return added_.file(); }

 private:
  struct Dynamic {
    std::string bytes, scale, zero;
  };

  // Once for all that read it: nodes are in order.
  const Dynamic& quantised(std::string_view value, std::vector<std::string>& nodes) {
    const auto [found, is_new] = quantised_.try_emplace(value);
    Dynamic& made = found->second;
    if (!is_new) return made;
    const std::string name(value);
    made = {added_.fresh(name + "_bytes"), added_.fresh(name + "_scale"),
            added_.fresh(name + "_zero")};
    nodes.push_back(
        encoded(NewNode{"DynamicQuantizeLinear", "", {name}, {made.bytes, made.scale, made.zero}}));
    return made;
  }

  // One for each channel, behind the batch; as many axes as the weights have.
  static Tensor beside_channels(const Tensor& values, std::size_t axes) {
    std::vector<std::int64_t> sizes(axes, 1);
    sizes[1] = values.numel();
    return values.reshape(Shape(sizes));
  }

  std::pair<std::string, std::string> weights_of(const Site& site, const NodeProto& node) {
    const IntegerWeights made = integer_weights(original_, site, options_.per_channel, {});
    Tensor steps = Tensor(made.steps).reshape(Shape(site.weights->dims)), scale(made.scales);
    if (node.op == "Gemm" && site.axis == 0) steps = steps.mT().contiguous();
    if (made.scales.size() == 1) scale = scale.reshape({});
    if (node.op == "Conv" && made.scales.size() > 1)
      scale = beside_channels(scale, site.weights->dims.size());
    const std::string name(site.weights->name);
    return {added_.constant(name + "_bytes", steps), added_.constant(name + "_scale", scale)};
  }

  std::string bias_of(const Site& site, bool is_conv) {
    Tensor bias(original_.floats(*site.bias));
    if (is_conv)
      bias = beside_channels(bias, site.weights->dims.size());
    else
      bias = bias.reshape(Shape(site.bias->dims));
    return added_.constant(std::string(site.bias->name) + "_added", bias);
  }

  const Original& original_;
  const QuantizeOptions& options_;
  Additions added_;
  std::map<std::string_view, Dynamic> quantised_;
};

}  // namespace

Quantized quantize_dynamically(const std::string& from, const std::string& to,
                               const QuantizeOptions& options) {
  constexpr std::int64_t first_opset = 11;  // that has DynamicQuantizeLinear
  Original original(from);
  if (original.opset() < first_opset)
    user_error(fmt::format("quantize: '{}' is of opset {}; there is dynamic quantisation since {}",
                           from, original.opset(), first_opset));
  const QuantizePlan plan = plan_of(original.proto, options);
  const auto messages = node_messages(original.file->bytes());
  DynamicQuantizer quantizer(original, options);
  Quantized result{.others = plan.others};
  for (const Site& site : plan.products)
    ++(quantizer.replace(site, messages[site.node]) ? result.products : result.others);
  const std::string file = quantizer.file();
  write_file(to, std::as_bytes(std::span(file)));
  return result;
}

}  // namespace weft::onnx
