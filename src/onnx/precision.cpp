// A factor of a layer becomes Widen(Narrow(x)): kernels read what is narrow and sum what is wide. Narrow of a constant
// is a constant, computed once, and the weight in the file is read no more. A layer of integers is its own operator on
// steps of i8, and Rescale.
#include "precision.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/ranges.h>
#include <weft/error.h>

#include "cleanup_nodes.h"
#include "short_functions.h"

namespace weft::onnx {
namespace {

// How an operator is also one of integers: where weights and results have their channels, and which input is added.
struct OfIntegers {
  bool exists = false;
  std::int64_t weight_axis = 0, output_axis = 0;
  std::size_t bias = 0;
};

constexpr std::pair<Precision, std::string_view> precision_names[] = {
    {Precision::F32, "f32"},
    {Precision::BF16, "bf16"},
    {Precision::F16, "f16"},
    {Precision::I8, "int8"},
};

constexpr unsigned all_inputs = ~0U;
constexpr std::int64_t colours = 3;

// An operator that sums products. Each bit of `factors` is an input that it multiplies.
struct LayerKind {
  Name domain, op;
  unsigned factors;
  OfIntegers integers = {};
};

constexpr LayerKind kinds[] = {
    {"", "Attention", 0b111},
    {"", "CausalConvWithState", 0b11},
    {"", "Conv", 0b11, {true, 0, 1, 2}},
    {"", "ConvTranspose", 0b11, {true, 1, 1, 2}},
    {"", "DeformConv", 0b11},
    {"", "Einsum", all_inputs},
    {"", "GRU", 0b111},
    {"", "Gemm", 0b11, {true, -1, -1, 2}},
    {"", "LSTM", 0b111},
    {"", "LinearAttention", 0b111},
    {"", "MatMul", 0b11, {true, -1, -1, 2}},
    {"", "RNN", 0b111},
    {"ai.onnx.preview", "FlexAttention", 0b111},
    {"com.microsoft", "Attention", 0b11},
    {"com.microsoft", "ConvTransposeWithDynamicPads", 0b11},
    {"com.microsoft", "DecoderMaskedMultiHeadAttention", 0b111},
    {"com.microsoft", "FusedConv", 0b11},
    {"com.microsoft", "FusedGemm", 0b11},
    {"com.microsoft", "FusedMatMul", 0b11},
    {"com.microsoft", "FusedMatMulActivation", 0b11},
    {"com.microsoft", "GemmFastGelu", 0b11},
    {"com.microsoft", "GroupQueryAttention", 0b111},
    {"com.microsoft", "MatMulNBits", 0b1},
    {"com.microsoft", "MoE", 0b1010101},
    {"com.microsoft", "MultiHeadAttention", 0b111},
    {"com.microsoft", "NhwcConv", 0b11},
    {"com.microsoft", "NhwcFusedConv", 0b11},
    {"com.microsoft", "PackedAttention", 0b11},
    {"com.microsoft", "TransposeMatMul", 0b11},
};

const LayerKind* kind_of(const NodeProto& node) {
  const auto found = std::ranges::find_if(kinds, [&](const LayerKind& kind) {
    return kind.op == node.op && kind.domain == node.domain;
  });
  return found == std::end(kinds) ? nullptr : found;
}

OfIntegers integers_of(const NodeProto& node, const LayerKind& kind) {
  OfIntegers integers = kind.integers;
  const bool is_said = std::ranges::all_of(
      node.attributes, [](const AttributeProto& each) { return each.reference.empty(); });
  const bool is_grouped = node.op == "ConvTranspose" && integer(node, "group", 1) != 1;
  const bool has_both = has_input(node, 0) && has_input(node, 1) && node.outputs.size() == 1;
  integers.exists = integers.exists && is_said && !is_grouped && has_both;
  if (integer(node, "transB", 0) != 0) integers.weight_axis = -2;
  return integers;
}

Type type_of(Precision precision) { return precision == Precision::BF16 ? Type::BF16 : Type::F16; }

// --- One graph ------------------------------------------------------------------------------------------

class Lowering {
 public:
  Lowering(Nodes& nodes, const PrecisionRules& rules) : nodes_(nodes), rules_(rules) {}

  // Where all factors are constants, what the layer gives is one as well.
  void to_floats(NodeProto& node, const LayerKind& kind, Precision precision) {
    const std::vector<std::size_t> factors = factors_of(node, kind);
    const auto changing = changing_of(node, factors);
    if (changing == factors.end()) return;
    const Name like = node.inputs[*changing];
    const bool has_few = has_few_channels(node, precision);
    if (has_few || is_surrounded(node, precision)) {
      node.domain = "weft";
      node.op = "SurroundedConv";
      node.attributes.push_back(int_attribute("to", std::int64_t(type_of(precision))));
      node.attributes.push_back(int_attribute("has_few_channels", has_few ? 1 : 0));
    }
    for (const std::size_t at : factors) {
      if (has_few && at == *changing) continue;  // it becomes narrow where it is brought together
      const Name factor = node.inputs[at], short_one = narrow(factor, precision);
      nodes_.read_instead(
          node, at, nodes_.make("Widen", {short_one, nodes_.is_constant(factor) ? like : factor}));
    }
  }

  // Of a copy in f32, which would else be the same value as the layer that it stands beside: it reads what this gives, if
  // anything that it multiplies changes.
  Name set_apart(NodeProto& node, const LayerKind& kind) {
    const std::vector<std::size_t> factors = factors_of(node, kind);
    const auto changing = changing_of(node, factors);
    if (changing == factors.end()) return {};
    const Name own = nodes_.make("Apart", {node.inputs[*changing]});
    nodes_.read_instead(node, *changing, own);
    return own;
  }

  void to_integers(NodeProto& node, const OfIntegers& how) {
    const auto [left, left_step] = quantised(node.inputs[0], {});
    const auto [right, right_step] = quantised(node.inputs[1], how.weight_axis);
    const Name output = node.outputs[0], sums = nodes_.fresh("Sums");
    std::vector<Name> scaled{sums, left_step, right_step};
    if (has_input(node, how.bias)) scaled.push_back(node.inputs[how.bias]);
    // What is of floats is said to Rescale, and the rest to the operator.
    std::vector<AttributeProto> own, other{int_attribute("axis", how.output_axis)};
    for (AttributeProto& each : node.attributes)
      (each.name == "alpha" || each.name == "beta" ? other : own).push_back(std::move(each));
    node.attributes = std::move(own);
    node.inputs = {nodes_.make("Integers", {left, right}), nodes_.make("Integers", {right, left})};
    node.outputs = {sums};
    nodes_.make("Rescale", std::move(scaled), {output}, std::move(other));
  }

  // What layers of this precision multiply is short in memory then: whoever else reads it reads that, but for layers of f32.
  void let_others_read(Precision precision) {
    for (const auto& [of, short_one] : narrow_) {
      const auto& [factor, own] = of;
      if (own != precision || nodes_.producer(factor) == nullptr || nodes_.is_constant(factor))
        continue;
      nodes_.work_on(*nodes_.producer(factor));
      Name wide;
      for (NodeProto& node : nodes_.all()) {
        const LayerKind* kind = kind_of(node);
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
          if (node.inputs[i] != factor || (kind != nullptr && is_factor(*kind, i))) continue;
          if (wide.empty()) wide = nodes_.make("Widen", {short_one, factor});
          nodes_.read_instead(node, i, wide);
        }
      }
    }
  }

  static std::vector<std::size_t> factors_of(const NodeProto& node, const LayerKind& kind) {
    std::vector<std::size_t> factors;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (is_factor(kind, i) && has_input(node, i)) factors.push_back(i);
    return factors;
  }

 private:
  std::vector<std::size_t>::const_iterator changing_of(
      const NodeProto& node, const std::vector<std::size_t>& factors) const {
    return std::ranges::find_if(
        factors, [&](std::size_t at) { return !nodes_.is_constant(node.inputs[at]); });
  }

  const TensorProto* weight_of_conv(const NodeProto& node) const {
    const bool is_conv = node.op == "Conv" && node.domain.empty() && node.inputs.size() > 1;
    return is_conv ? nodes_.initialiser(node.inputs[1]) : nullptr;
  }
  static bool has(KindSet kinds, Precision precision) {
    return precision == Precision::BF16  ? kinds.contains(Kind::BF16)
           : precision == Precision::F16 ? kinds.contains(Kind::F16)
                                         : false;
  }
  bool has_few_channels(const NodeProto& node, Precision precision) const {
    const TensorProto* weight = weight_of_conv(node);
    return has(rules_.multiplied, precision) && weight != nullptr && weight->dims.size() == 4 &&
           weight->dims[1] == colours && integer(node, "group", 1) == 1;
  }
  bool is_surrounded(const NodeProto& node, Precision precision) const {
    return has(rules_.tiled, precision) && wants_surroundings(node, weight_of_conv(node));
  }

  static bool is_factor(const LayerKind& kind, std::size_t input) {
    return input < 32 && (kind.factors >> input & 1U) != 0;
  }

  Name narrow(Name factor, Precision precision) {
    Name& made = narrow_[{factor, precision}];
    if (made.empty())
      made =
          nodes_.make("Narrow", {factor}, {int_attribute("to", std::int64_t(type_of(precision)))});
    return made;
  }

  // Steps, and their size: one, or one for each place of an axis.
  std::array<Name, 2> quantised(Name factor, std::optional<std::int64_t> axis) {
    auto& made = steps_[{factor, axis}];
    if (!made[0].empty()) return made;
    made = {nodes_.fresh("Steps"), nodes_.fresh("Step")};
    std::vector<AttributeProto> attributes;
    if (axis) attributes.push_back(int_attribute("axis", *axis));
    nodes_.make("Quantize", {factor}, {made[0], made[1]}, std::move(attributes));
    return made;
  }

  Nodes& nodes_;
  const PrecisionRules& rules_;
  std::map<std::pair<Name, Precision>, Name> narrow_;
  std::map<std::pair<Name, std::optional<std::int64_t>>, std::array<Name, 2>> steps_;
};

// --- The model ------------------------------------------------------------------------------------------

class Layers {
 public:
  Layers(std::deque<std::string>& names, const PrecisionRules& rules)
      : names_(names), rules_(rules) {
    for (const auto& [name, precision] : rules.layers) unknown_.emplace(name);
  }

  void lower(GraphProto& graph, std::int64_t opset, bool is_inside) {
    Nodes nodes(graph, opset, names_);
    Lowering lowering(nodes, rules_);
    for (NodeProto& node : nodes.all()) {
      for (AttributeProto& attribute : node.attributes)
        for (GraphProto& inner : attribute.graphs) lower(inner, opset, true);
      nodes.work_on(node);
      const LayerKind* kind = kind_of(node);
      if (kind != nullptr && !node.first_output().empty())
        lower(nodes, lowering, node, *kind, is_inside);
    }
    if (!rules_.beside) lowering.let_others_read(rules_.all);
    nodes.finish();
    if (!rules_.beside) shorten_functions(graph);
  }

  std::vector<PlacedLayer> take() {
    if (!unknown_.empty()) {
      std::vector<std::string_view> known;
      for (const PlacedLayer& each : found_) known.push_back(each.layer.name);
      user_error(fmt::format("there is no layer '{}'; the layers are {}", *unknown_.begin(),
                             fmt::join(known, ", ")));
    }
    return std::move(found_);
  }

 private:
  void lower(Nodes& nodes, Lowering& lowering, NodeProto& node, const LayerKind& kind,
             bool is_inside) {
    const Name output = node.first_output();
    const OfIntegers integers = integers_of(node, kind);
    PlacedLayer placed{{.name = std::string(node.label()),
                        .output = std::string(output),
                        .op = std::string(node.op),
                        .precision = precision_of(node, integers.exists),
                        .has_i8 = integers.exists,
                        .is_inside = is_inside},
                       {}};
    for (const std::size_t at : Lowering::factors_of(node, kind))
      placed.factors.push_back(node.inputs[at]);
    const Precision precision = placed.layer.precision;
    if (rules_.beside ? !is_inside : precision != Precision::F32) {
      NodeProto& lowered = rules_.beside ? nodes.copy(node) : node;
      if (rules_.beside) placed.beside = lowered.first_output();
      if (precision == Precision::F32)
        placed.apart = lowering.set_apart(lowered, kind);
      else if (precision == Precision::I8)
        lowering.to_integers(lowered, integers);
      else
        lowering.to_floats(lowered, kind, precision);
    }
    found_.push_back(std::move(placed));
  }

  Precision precision_of(const NodeProto& node, bool has_i8) {
    for (const Name name : {node.name, node.first_output()}) {
      const auto asked = name.empty() ? rules_.layers.end() : rules_.layers.find(name);
      if (asked == rules_.layers.end()) continue;
      unknown_.erase(asked->first);
      if (asked->second == Precision::I8 && !has_i8)
        user_error(fmt::format("layer '{}' ({}) has no form of integers", name, node.op));
      return asked->second;
    }
    return rules_.all == Precision::I8 && !has_i8 ? Precision::F32 : rules_.all;
  }

  std::deque<std::string>& names_;
  const PrecisionRules& rules_;
  std::set<std::string_view> unknown_;
  std::vector<PlacedLayer> found_;
};

}  // namespace

std::vector<PlacedLayer> lower_precision(ModelProto& model, std::deque<std::string>& names,
                                         const PrecisionRules& rules) {
  const auto standard = std::ranges::find(model.opsets, "", &OpsetId::domain);
  const std::int64_t opset = standard == model.opsets.end() ? 1 : standard->version;
  Layers layers(names, rules);
  layers.lower(model.graph, opset, false);
  for (FunctionProto& function : model.functions) {
    GraphProto body;
    body.nodes = std::move(function.nodes);
    for (const Name output : function.outputs) body.outputs.emplace_back().name = output;
    layers.lower(body, opset, true);
    function.nodes = std::move(body.nodes);
  }
  return layers.take();
}

std::string_view name_of(Precision precision) {
  return precision_names[static_cast<std::size_t>(precision)].second;
}

std::optional<Precision> parse_precision(std::string_view name) {
  const auto* found =
      std::ranges::find(precision_names, name, &std::pair<Precision, std::string_view>::second);
  if (found == std::end(precision_names)) return {};
  return found->first;
}

}  // namespace weft::onnx
