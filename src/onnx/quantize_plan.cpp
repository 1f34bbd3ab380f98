#include "quantize_plan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include "cleanup_nodes.h"

namespace weft::onnx {
namespace {

constexpr double largest_step = 127;

bool has_unit_factors(const NodeProto& node) {
  return std::ranges::all_of(node.attributes, [](const AttributeProto& each) {
    return (each.name != "alpha" && each.name != "beta") || each.floats == std::vector<float>{1};
  });
}

// The axis of its weights that channels of the result are along; -1 where it is no product.
std::int64_t axis_of_weights(const NodeProto& node, std::size_t axes) {
  if (node.op == "Conv") return axes >= 3 ? 0 : -1;
  if (axes != 2) return -1;
  if (node.op == "MatMul") return 1;
  if (node.op == "Gemm" && has_unit_factors(node)) return integer(node, "transB", 0) != 0 ? 0 : 1;
  return -1;
}

const TensorProto* floats_of(const Nodes& nodes, const NodeProto& node, std::size_t input) {
  const TensorProto* found =
      has_input(node, input) ? nodes.initialiser(node.inputs[input]) : nullptr;
  return found != nullptr && found->type == Type::F32 ? found : nullptr;
}

constexpr Name averaging[] = {"AveragePool", "GlobalAveragePool", "ReduceMean", "Resize"};

// How many of its first inputs it computes bytes of, where its output is of bytes.
std::size_t inputs_alike(const NodeProto& node) {
  if (const std::size_t chosen = chosen_inputs(node)) return chosen;
  if (node.op == "Add" || node.op == "Mul") return 2;
  return std::ranges::find(averaging, node.op) == std::end(averaging) ? 0 : 1;
}

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? std::string(1, '.') : folder.string();
}

}  // namespace

Original::Original(const std::string& path)
    : in{path},
      file(std::make_shared<const Mapping>(path)),
      folder(folder_of(path)),
      proto(parse_model(file->bytes(), in)),
      weights(in, file, folder, default_device()) {}

std::int64_t Original::opset() const {
  const auto found = std::ranges::find(proto.opsets, "", &OpsetId::domain);
  return found == proto.opsets.end() ? 1 : found->version;
}

std::vector<float> Original::floats(const TensorProto& tensor) const {
  return weights.value(tensor).tensor().to_vector<float>();
}

bool is_excluded(const NodeProto& node, const QuantizeOptions& options) {
  return std::ranges::any_of(options.exclude, [&](const std::string& name) {
    return name == node.name || std::ranges::find(node.outputs, name) != node.outputs.end();
  });
}

QuantizePlan plan_of(ModelProto& model, const QuantizeOptions& options) {
  for (const std::string& name : options.exclude)
    if (std::ranges::none_of(model.graph.nodes, [&](const NodeProto& node) {
          return is_excluded(node, {.exclude = {name}});
        }))
      user_error(fmt::format("quantize: there is no node '{}' to exclude", name));
  std::deque<std::string> names;
  const Nodes nodes(model.graph, 1, names);
  QuantizePlan plan;
  std::unordered_set<Name> marked;
  const auto mark = [&](const NodeProto& node, std::size_t input) {
    if (!has_input(node, input) || nodes.is_constant(node.inputs[input])) return;
    if (marked.insert(node.inputs[input]).second) plan.activations.push_back(node.inputs[input]);
  };
  // From the end, so that what becomes bytes is known where it is computed.
  const std::vector<NodeProto>& all = model.graph.nodes;
  for (std::size_t i = all.size(); i-- > 0;) {
    const NodeProto& node = all[i];
    if (!node.domain.empty() || node.outputs.empty()) continue;
    const TensorProto* weights = floats_of(nodes, node, 1);
    const std::int64_t axis = axis_of_weights(node, weights == nullptr ? 0 : weights->dims.size());
    const bool is_product = node.op == "Conv" || node.op == "MatMul" || node.op == "Gemm";
    const bool stays = is_excluded(node, options);
    if (is_product && (stays || axis < 0 || nodes.is_constant(node.inputs[0]))) {
      ++plan.others;
    } else if (is_product) {
      plan.products.push_back({i, weights, floats_of(nodes, node, 2), axis});
      mark(node, 0);
    } else if (!stays && marked.contains(node.outputs[0])) {
      for (std::size_t input = 0; input < inputs_alike(node); ++input) mark(node, input);
    }
  }
  std::ranges::reverse(plan.products);
  for (const NodeProto& node : all)
    if (node.domain.empty() && chosen_inputs(node) == 1 && !is_excluded(node, options) &&
        has_input(node, 0) && marked.contains(node.inputs[0]) && marked.contains(node.outputs[0]))
      plan.alike.emplace_back(node.inputs[0], node.outputs[0]);
  return plan;
}

IntegerWeights integer_weights(const Original& model, const Site& site, bool per_channel,
                               std::span<const double> least_scales) {
  const std::vector<std::int64_t>& dims = site.weights->dims;
  std::size_t inner = 1;
  for (auto axis = std::size_t(site.axis) + 1; axis < dims.size(); ++axis)
    inner *= static_cast<std::size_t>(dims[axis]);
  const auto channels = static_cast<std::size_t>(dims[std::size_t(site.axis)]);
  const std::vector<float> values = model.floats(*site.weights);
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
    user_error(fmt::format("quantize: '{}' has values that are not finite", site.weights->name));
  const auto place_of = [&](std::size_t i) { return per_channel ? i / inner % channels : 0; };
  std::vector<double> scales(per_channel ? channels : 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& scale = scales[place_of(i)];
    scale = std::max(scale, std::abs(double(values[i])) / largest_step);
  }
  for (std::size_t i = 0; i < least_scales.size(); ++i) {
    double& scale = scales[per_channel ? i : 0];
    scale = std::max(scale, least_scales[i]);
  }
  IntegerWeights result;
  for (double& scale : scales) {
    if (!(scale >= double(std::numeric_limits<float>::min()))) scale = 1 / largest_step;
    result.scales.push_back(static_cast<float>(scale));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double steps = double(values[i]) / double(result.scales[place_of(i)]);
    result.steps.push_back(
        static_cast<std::int8_t>(std::clamp(std::nearbyint(steps), -largest_step, largest_step)));
  }
  return result;
}

Additions::Additions(const Original& model) : model_(model) {
  const GraphProto& graph = model.proto.graph;
  for (const TensorProto& each : graph.initialisers) names_.emplace(each.name);
  for (const ValueInfoProto& each : graph.inputs) names_.emplace(each.name);
  for (NodeProto node : graph.nodes) {
    names_.insert(node.outputs.begin(), node.outputs.end());
    for_each_use(node, [&](Name& name) { ++uses_[name]; });
  }
  for (const ValueInfoProto& each : graph.outputs) ++uses_[each.name];
}

std::string Additions::fresh(const std::string& base) {
  std::string name = base;
  for (int i = 1; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

std::string Additions::constant(const std::string& base, const Tensor& value) {
  const std::string name = fresh(base);
  edits.new_initialisers.push_back(encoded(Value(value), name));
  return name;
}

std::string Additions::file() {
  const auto& initialisers = model_.proto.graph.initialisers;
  for (std::size_t i = 0; i < initialisers.size(); ++i) {
    const TensorProto& each = initialisers[i];
    if (uses_[each.name] <= 0)
      edits.initialisers[i] = {};
    else if (each.is_external)
      edits.initialisers[i] = {encoded(model_.weights.value(each), each.name)};
  }
  return edited(model_.file->bytes(), edits, model_.in);
}

}  // namespace weft::onnx
