// Activations by what calls compute, and QuantizeLinear and DequantizeLinear around what is to be of integers.
#include <weft/onnx_quantize.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <weft/error.h>

#include "calibration.h"
#include "quantize_plan.h"

namespace weft::onnx {
namespace {

using ActivationSteps = std::map<std::string_view, Steps>;

constexpr double most_bias = 1 << 29;  // in steps of the sums that it is added to

// --- Calibration -------------------------------------------------------------------------------------------

// The model, with activations for outputs.
Model observed_model(const Original& original, const QuantizePlan& plan) {
  GraphEdits edits;
  const GraphProto& graph = original.proto.graph;
  for (const std::string_view name : plan.activations)
    if (std::ranges::find(graph.inputs, name, &ValueInfoProto::name) == graph.inputs.end() &&
        std::ranges::find(graph.outputs, name, &ValueInfoProto::name) == graph.outputs.end())
      edits.new_outputs.push_back(encoded_output(name));
  const std::string file = edited(original.file->bytes(), edits, original.in);
  return Model::parse(std::as_bytes(std::span(file)), {.name = original.in.path}, original.folder);
}

ActivationSteps calibrated(const Original& original, const QuantizePlan& plan,
                           std::span<const NamedValues> calls, const QuantizeOptions& options) {
  const Model model = observed_model(original, plan);
  std::map<std::string_view, Observed> observed;
  const auto observe = [&](void (Observed::*add)(std::span<const float>)) {
    for (const NamedValues& call : calls) {
      const NamedValues values = model(call);
      for (const std::string_view name : plan.activations) {
        const auto found = values.find(name);
        const Value& value = found == values.end() ? call.at(std::string(name)) : found->second;
        (observed[name].*add)(value.tensor().to_vector<float>());
      }
    }
  };
  observe(&Observed::add_to_bounds);
  if (options.method != RangeMethod::MinMax) observe(&Observed::add_magnitudes);
  ActivationSteps steps;
  for (const auto& [name, each] : observed) steps[name] = steps_of(each.bounds(options));
  for (const auto& [from, to] : plan.alike) steps[to] = steps[from];
  return steps;
}

// --- The file -----------------------------------------------------------------------------------------------

class Quantizer {
 public:
  Quantizer(const Original& original, const QuantizePlan& plan, ActivationSteps steps,
            const QuantizeOptions& options)
      : original_(original),
        plan_(plan),
        steps_(std::move(steps)),
        options_(options),
        // One scale for each channel is something that the standard's have since 13.
        domain_(original.opset() >= 13 ? "" : microsoft),
        added_(original) {}

  std::string file() {
    for (const ValueInfoProto& input : original_.proto.graph.inputs)
      quantise(input.name, added_.edits.first_nodes);
    const auto messages = node_messages(original_.file->bytes());
    auto site = plan_.products.begin();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const bool is_product = site != plan_.products.end() && site->node == i;
      add_node(i, messages[i], is_product ? &*site : nullptr);
      if (is_product) ++site;
    }
    const auto& opsets = original_.proto.opsets;
    if (!domain_.empty() && std::ranges::find(opsets, domain_, &OpsetId::domain) == opsets.end())
      added_.edits.new_opsets.push_back({domain_, 1});
    return added_.file();
  }

 private:
  static constexpr std::string_view microsoft = "com.microsoft";

  // A value by a scale and a zero point, which are constants.
  std::string node(std::string_view op, const std::string& base, Names inputs,
                   std::vector<std::string>& nodes, std::int64_t axis = -1) {
    const std::string output = added_.fresh(base);
    NewNode made{op, domain_, std::move(inputs), {output}};
    if (axis >= 0) made.attributes = {encoded_attribute("axis", axis)};
    nodes.push_back(encoded(made));
    return output;
  }

  // Of an activation what it becomes, and what nodes behind it read.
  void quantise(std::string_view value, std::vector<std::string>& nodes) {
    const auto steps = steps_.find(value);
    if (steps == steps_.end()) return;
    const std::string name(value);
    const Tensor zero(std::vector<std::uint8_t>{steps->second.zero});
    const Names by{added_.constant(name + "_scale", Tensor({steps->second.scale}).reshape({})),
                   added_.constant(name + "_zero", zero.reshape({}))};
    const std::string bytes = node("QuantizeLinear", name + "_bytes", {name, by[0], by[1]}, nodes);
    now_[value] = node("DequantizeLinear", name + "_of_bytes", {bytes, by[0], by[1]}, nodes);
  }

  // Scales along the only axis, or one of no axes.
  template <class Number>
  Tensor one_or_all(const std::vector<Number>& numbers) const {
    const Tensor all(numbers);
    return options_.per_channel ? all : all.reshape({});
  }

  void quantise_weights(const Site& site, Names& inputs, std::vector<std::string>& nodes) {
    const double scale = double(steps_.at(inputs[0]).scale);
    std::vector<float> bias;
    std::vector<double> least;
    const std::int64_t channels = site.weights->dims[std::size_t(site.axis)];
    if (site.bias != nullptr && site.bias->dims == std::vector<std::int64_t>{channels}) {
      bias = original_.floats(*site.bias);
      for (const float each : bias) least.push_back(std::abs(double(each)) / (scale * most_bias));
    }
    const IntegerWeights weights = integer_weights(original_, site, options_.per_channel, least);
    const std::vector<std::int8_t> zeros(weights.scales.size());
    const std::string name(site.weights->name);
    const std::string steps =
        added_.constant(name + "_bytes", Tensor(weights.steps).reshape(Shape(site.weights->dims)));
    const std::string scales = added_.constant(name + "_scale", one_or_all(weights.scales));
    const std::string zero = added_.constant(name + "_zero", one_or_all(zeros));
    inputs[1] = node("DequantizeLinear", name + "_of_bytes", {steps, scales, zero}, nodes,
                     options_.per_channel ? site.axis : -1);
    added_.note_gone(*site.weights);
    if (!bias.empty()) quantise_bias(site, bias, scale, weights.scales, inputs, nodes);
  }

  // In steps of the sums.
  void quantise_bias(const Site& site, const std::vector<float>& bias, double scale,
                     const std::vector<float>& of_weights, Names& inputs,
                     std::vector<std::string>& nodes) {
    std::vector<float> scales;
    for (const float each : of_weights)
      scales.push_back(
          std::max(static_cast<float>(scale * double(each)), std::numeric_limits<float>::min()));
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    std::vector<std::int32_t> steps;
    for (std::size_t i = 0; i < bias.size(); ++i) {
      const double count = double(bias[i]) / double(scales[scales.size() == 1 ? 0 : i]);
      if (!(std::abs(count) <= most))
        user_error(fmt::format("quantize: '{}' has values beyond what 32 bits hold of its steps",
                               site.bias->name));
      steps.push_back(static_cast<std::int32_t>(std::nearbyint(count)));
    }
    const std::string name(site.bias->name);
    const std::string integers = added_.constant(name + "_integers", Tensor(steps)),
                      by = added_.constant(name + "_scale", one_or_all(scales));
    inputs[2] = node("DequantizeLinear", name + "_of_integers", {integers, by}, nodes,
                     options_.per_channel ? 0 : -1);
    added_.note_gone(*site.bias);
  }

  void add_node(std::size_t place, std::string_view message, const Site* site) {
    const NodeProto& original = original_.proto.graph.nodes[place];
    std::vector<std::string> messages;
    Names inputs(original.inputs.begin(), original.inputs.end());
    if (site != nullptr) quantise_weights(*site, inputs, messages);
    if (!is_excluded(original, options_))
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (const auto found = now_.find(original.inputs[i]); found != now_.end())
          inputs[i] = found->second;
    messages.push_back(with_inputs(message, inputs));
    for (const std::string_view output : original.outputs) quantise(output, messages);
    added_.edits.nodes[place] = std::move(messages);
  }

  const Original& original_;
  const QuantizePlan& plan_;
  const ActivationSteps steps_;
  const QuantizeOptions& options_;
  const std::string_view domain_;
  Additions added_;
  std::map<std::string_view, std::string> now_;  // what is read in place of an activation
};

}  // namespace

Quantized quantize(const std::string& from, const std::string& to,
                   std::span<const NamedValues> calls, const QuantizeOptions& options) {
  Original original(from);
  const QuantizePlan plan = plan_of(original.proto, options);
  if (calls.empty()) user_error("quantize: no calls say what values activations have");
  if (!(options.percentile > 0 && options.percentile <= 100))
    user_error("quantize: the percentile is above 0 and at most 100");
  const std::string file =
      Quantizer(original, plan, calibrated(original, plan, calls, options), options).file();
  write_file(to, std::as_bytes(std::span(file)));
  return {plan.products.size(), plan.others, plan.activations.size()};
}

}  // namespace weft::onnx
