// What lies between DequantizeLinear and QuantizeLinear, as quantisers write it. Weights and what layers hand on stay
// the bytes that they are, and what is summed is their products.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>

#include "cleanup_nodes.h"

namespace weft::onnx {
namespace {

// Inputs of QuantizeLinear and DequantizeLinear.
enum : std::size_t { of_values, of_scale, of_zero };

bool is_byte(Type type) { return type == Type::U8 || type == Type::I8; }

bool is_single(const TensorProto& tensor) {
  return std::ranges::all_of(tensor.dims, [](std::int64_t size) { return size == 1; });
}

bool is_known(const NodeProto& node) {
  return node.domain.empty() || node.domain == "com.microsoft";
}

// Scales are floats that are known, and the zero point says that values are bytes; nothing else is said.
bool is_plain(const Nodes& nodes, const NodeProto& node) {
  if (!is_known(node) || node.inputs.size() != 3 || !has_input(node, of_values)) return false;
  const TensorProto* scale = nodes.initialiser(node.inputs[of_scale]);
  const TensorProto* zero = nodes.initialiser(node.inputs[of_zero]);
  return scale != nullptr && scale->type == Type::F32 && zero != nullptr && is_byte(zero->type) &&
         zero->dims == scale->dims &&
         std::ranges::all_of(node.attributes, [](const AttributeProto& each) {
           return each.name == "axis" && each.ints.size() == 1;
         });
}

bool has_one_scale(const Nodes& nodes, const NodeProto& node) {
  return is_single(*nodes.initialiser(node.inputs[of_scale]));
}

// What gives an input from bytes.
const NodeProto* dequantiser(const Nodes& nodes, const NodeProto& node, std::size_t input) {
  const NodeProto* found = has_input(node, input) ? nodes.producer(node.inputs[input]) : nullptr;
  const bool fits = found != nullptr && found->op == "DequantizeLinear" && is_plain(nodes, *found);
  return fits ? found : nullptr;
}

// As they lie in the file; empty where they are elsewhere.
template <class Number>
std::vector<Number> numbers(const TensorProto& tensor) {
  Bytes bytes = tensor.raw;
  if constexpr (std::same_as<Number, float>)
    if (bytes.empty()) bytes = tensor.floats.bytes();
  if constexpr (std::integral<Number>)
    if (bytes.empty()) return {tensor.ints32.begin(), tensor.ints32.end()};
  std::vector<Number> result(bytes.size() / sizeof(Number));
  if (!result.empty()) std::memcpy(result.data(), bytes.data(), result.size() * sizeof(Number));
  return result;
}

// All are there, and are 0.
template <class Number>
bool are_zero(const TensorProto& tensor) {
  const std::vector<Number> all = numbers<Number>(tensor);
  return !all.empty() && std::ranges::count(all, Number(0)) == std::ssize(all);
}

// --- Products --------------------------------------------------------------------------------------------

// A product of what is dequantised, and how its weights lie.
struct Product {
  const NodeProto *left, *right;
  std::size_t axes;  // of the weights; 0: three and more
  std::size_t axis;  // along which they have a channel of the result each
};

// The bytes, or the floats that they are quantised from; null where nothing of them is known.
const TensorProto* weights_of(const Nodes& nodes, const Product& product) {
  const Name name = product.right->inputs[of_values];
  const NodeProto* node = nodes.producer(name);
  if (node != nullptr && node->op == "QuantizeLinear" && is_plain(nodes, *node))
    return nodes.initialiser(node->inputs[of_values]);
  const TensorProto* found = nodes.initialiser(name);
  return found != nullptr && is_byte(found->type) ? found : nullptr;
}

// Weights of one scale or one for each channel, and so few of a channel that sums of two bytes' products stay below
// half of what 32 bits hold.
bool has_weights(const Nodes& nodes, const Product& product) {
  constexpr double half_of_sums = 1 << 30;
  const TensorProto* weights = weights_of(nodes, product);
  if (weights == nullptr ||
      (product.axes == 0 ? weights->dims.size() < 3 : weights->dims.size() != product.axes))
    return false;
  const auto axes = std::ssize(weights->dims), wanted = std::int64_t(product.axis);
  double largest = 255 * 255;
  for (std::int64_t i = 0; i < axes; ++i)
    if (i != wanted) largest *= static_cast<double>(weights->dims[std::size_t(i)]);
  if (largest >= half_of_sums) return false;
  if (has_one_scale(nodes, *product.right)) return true;
  const std::int64_t axis = integer(*product.right, "axis", 1);
  return (axis == wanted || axis == wanted - axes) &&
         nodes.initialiser(product.right->inputs[of_scale])->dims.size() == 1;
}

// Integers by the scale of the sums, which then stay below 2^31 when they are added.
bool is_counted_in_sums(const Nodes& nodes, const NodeProto& node, const Product& product) {
  if (node.op != "DequantizeLinear" || !is_known(node) || node.inputs.size() < 2) return false;
  const TensorProto* bias = nodes.initialiser(node.inputs[of_values]);
  const TensorProto* scale = nodes.initialiser(node.inputs[of_scale]);
  if (bias == nullptr || bias->type != Type::I32 || bias->dims.size() != 1) return false;
  if (scale == nullptr || scale->type != Type::F32) return false;
  if (has_input(node, of_zero)) {
    const TensorProto* zero = nodes.initialiser(node.inputs[of_zero]);
    if (zero == nullptr || !are_zero<std::int32_t>(*zero)) return false;
  }
  const auto values = numbers<std::int32_t>(*bias);
  const auto is_small = [](std::int32_t value) { return std::abs(double(value)) < 1 << 30; };
  const auto of_bias = numbers<float>(*scale);
  const auto of_left = numbers<float>(*nodes.initialiser(product.left->inputs[of_scale]));
  const auto of_right = numbers<float>(*nodes.initialiser(product.right->inputs[of_scale]));
  if (values.empty() || !std::ranges::all_of(values, is_small)) return false;
  if (of_left.size() != 1 || of_bias.empty() || of_bias.size() != of_right.size()) return false;
  for (std::size_t i = 0; i < of_bias.size(); ++i) {
    const double expected = double(of_left[0]) * double(of_right[i]);
    if (!(std::abs(double(of_bias[i]) - expected) <= 1e-6 * expected)) return false;
  }
  return true;
}

bool is_only_product(const NodeProto& gemm) {
  return std::ranges::all_of(gemm.attributes, [](const AttributeProto& each) {
    const bool is_factor = each.name == "alpha" || each.name == "beta";
    return is_factor ? each.floats == std::vector<float>{1}
                     : each.name == "transA" || each.name == "transB";
  });
}

// A zero point that is 0 is none.
Name zero_of(const Nodes& nodes, const NodeProto& node) {
  const Name name = node.inputs[of_zero];
  return are_zero<std::int8_t>(*nodes.initialiser(name)) ? Name() : name;
}

// Of a product, what makes it one of bytes.
struct ByteInputs {
  Name left, right, left_scale, right_scale, left_zero, right_zero, bias;
  bool is_bias_integer;
};

AttributeProto along(std::size_t axis) { return int_attribute("axis", std::int64_t(axis)); }

// Of weights one for each channel.
Name step_of_sums(Nodes& nodes, const ByteInputs& inputs) {
  return nodes.make("StepOfSums", {inputs.left_scale, inputs.right_scale});
}

// Instructions may multiply an unsigned byte and a signed one only: of two that are alike, the left one, or weights around 128,
// are moved by that. Whether there is one then.
bool shift_bytes(Nodes& nodes, const Product& product, ByteInputs& inputs) {
  const Name left = product.left->inputs[of_zero], right = product.right->inputs[of_zero];
  const bool is_signed = nodes.initialiser(left)->type == Type::I8;
  if (nodes.rules.multiplies_alike || is_signed != (nodes.initialiser(right)->type == Type::I8))
    return nodes.rules.multiplies_bytes;
  if (!nodes.rules.multiplies_bytes || !inputs.is_bias_integer) return false;
  if (is_signed) {
    inputs.left = nodes.make("ShiftedBytes", {inputs.left});
    inputs.left_zero = nodes.make("ShiftedBytes", {left});
    return true;
  }
  const auto zeros = numbers<std::uint8_t>(*nodes.initialiser(right));
  if (zeros.empty() || std::ranges::count(zeros, 128) != std::ssize(zeros)) return false;
  inputs.right = nodes.make("ShiftedBytes", {inputs.right});
  inputs.right_zero = {};
  return true;
}

// (x - zero) * w is x * w less what weights alone say, which is added to the bias once.
void move_zero_to_bias(Nodes& nodes, ByteInputs& inputs, std::size_t axis) {
  inputs.bias =
      nodes.make("BiasOfBytes", {inputs.right, inputs.left_zero, inputs.right_zero, inputs.bias},
                 {along(axis)});
}

// A product of what bytes stand for: of the bytes, in 32 bits.
bool multiply_bytes(Nodes& nodes, NodeProto& node, Name op, std::size_t axes, std::size_t axis) {
  const Product product{dequantiser(nodes, node, 0), dequantiser(nodes, node, 1), axes, axis};
  const auto *left = product.left, *right = product.right;
  if (left == nullptr || right == nullptr || !has_one_scale(nodes, *left) ||
      !has_weights(nodes, product))
    return false;
  ByteInputs inputs{left->inputs[of_values],
                    right->inputs[of_values],
                    left->inputs[of_scale],
                    right->inputs[of_scale],
                    zero_of(nodes, *left),
                    zero_of(nodes, *right),
                    Name(),
                    true};
  if (has_input(node, 2)) {
    const NodeProto* bias = nodes.producer(node.inputs[2]);
    inputs.is_bias_integer = bias != nullptr && is_counted_in_sums(nodes, *bias, product);
    inputs.bias = inputs.is_bias_integer ? bias->inputs[of_values] : node.inputs[2];
  }
  const bool multiplies_bytes = shift_bytes(nodes, product, inputs) && inputs.right_zero.empty() &&
                                (inputs.left_zero.empty() || inputs.is_bias_integer);
  const bool surrounds = nodes.rules.has_byte_tiles && op == "ConvOfBytes" &&
                         wants_surroundings(node, weights_of(nodes, product));
  Name weights = inputs.right;
  bool is_in_bias = false;
  if (op == "ConvOfBytes" && !multiplies_bytes)
    weights = nodes.make("WeightsOfBytes", {inputs.right, inputs.right_zero}, {along(axis)});
  else
    is_in_bias = !inputs.left_zero.empty() && inputs.is_bias_integer;
  if (is_in_bias) move_zero_to_bias(nodes, inputs, axis);
  const bool is_padding = is_in_bias && has_padding(node);  // which is the zero point
  if (is_in_bias && !is_padding) inputs.left_zero = {};
  std::vector<AttributeProto> attributes = std::move(node.attributes);
  if (is_padding) attributes.push_back(int_attribute("zero_is_in_bias", 1));
  if (surrounds) attributes.push_back(int_attribute("surrounds", 1));
  nodes.become(node, op,
               {inputs.left, weights, step_of_sums(nodes, inputs), inputs.left_zero,
                inputs.right_zero, inputs.bias});
  node.attributes = std::move(attributes);
  node.domain = "weft";
  return true;
}

// --- What moves bytes or compares them -------------------------------------------------------------------

// What lies in other files is not known to be the same.
template <class Number>
bool are_same(const TensorProto& a, const TensorProto& b) {
  const std::vector<Number> all = numbers<Number>(a);
  return !all.empty() && all == numbers<Number>(b);
}

bool is_same_tensor(const Nodes& nodes, Name one, Name other) {
  if (one == other) return true;
  const TensorProto *a = nodes.initialiser(one), *b = nodes.initialiser(other);
  return a->type == b->type && is_single(*a) && is_single(*b) &&
         (a->type == Type::F32 ? are_same<float>(*a, *b) : are_same<std::int8_t>(*a, *b));
}

bool is_same_scale(const Nodes& nodes, const NodeProto& one, const NodeProto& other) {
  return has_one_scale(nodes, one) && has_one_scale(nodes, other) &&
         is_same_tensor(nodes, one.inputs[of_scale], other.inputs[of_scale]) &&
         is_same_tensor(nodes, one.inputs[of_zero], other.inputs[of_zero]);
}

// Operators that give elements of their first input.
constexpr Name choosing[] = {
    "DepthToSpace", "Expand",       "Flatten", "Gather", "GlobalMaxPool", "MaxPool",  "Reshape",
    "Slice",        "SpaceToDepth", "Squeeze", "Tile",   "Transpose",     "Unsqueeze"};

}  // namespace

std::size_t chosen_inputs(const NodeProto& node) {
  if (!node.domain.empty() || node.outputs.size() != 1) return 0;
  if (node.op == "Concat") return node.inputs.size();
  return std::ranges::find(choosing, node.op) == std::end(choosing) ? 0 : 1;
}

bool multiply_in_matmul(Nodes& nodes, NodeProto& node) {
  return multiply_bytes(nodes, node, "MatMulOfBytes", 2, 1);
}

bool multiply_in_gemm(Nodes& nodes, NodeProto& node) {
  return is_only_product(node) &&
         multiply_bytes(nodes, node, "GemmOfBytes", 2, integer(node, "transB", 0) != 0 ? 0 : 1);
}

bool multiply_in_conv(Nodes& nodes, NodeProto& node) {
  return multiply_bytes(nodes, node, "ConvOfBytes", 0, 0);
}

// Only the node reads its sums, and they are no floats until they have their scale.
NodeProto* product_before(const Nodes& nodes, const NodeProto& node) {
  constexpr Name products[] = {"ConvOfBytes", "GemmOfBytes", "MatMulOfBytes"};
  constexpr std::size_t of_bias = 5;
  const Name values = node.inputs[of_values];
  NodeProto* found = nodes.producer(values);
  if (found == nullptr || found->domain != "weft" || !nodes.has_one_reader(values) ||
      std::ranges::find(products, found->op) == std::end(products))
    return nullptr;
  if (!has_input(*found, of_bias)) return found;
  const Name bias = found->inputs[of_bias];
  const TensorProto* known = nodes.initialiser(bias);
  const NodeProto* made = nodes.producer(bias);
  const bool is_integer =
      known != nullptr ? known->type == Type::I32 : made != nullptr && made->op == "BiasOfBytes";
  return is_integer ? found : nullptr;
}

bool quantize_by_inverse(Nodes& nodes, NodeProto& node) {
  constexpr std::size_t step_of_sums = 2;
  if (node.op != "QuantizeLinear" || !is_plain(nodes, node) ||
      nodes.is_constant(node.inputs[of_values]))
    return false;
  Name inverse = nodes.make("InverseOfSteps", {node.inputs[of_scale]});
  if (NodeProto* product = product_before(nodes, node); product && has_one_scale(nodes, node)) {
    const Name step = nodes.make("StepOfSums", {inverse, product->inputs[step_of_sums]});
    nodes.read_instead(*product, step_of_sums, step);
    inverse = {};
  }
  std::vector<AttributeProto> attributes = std::move(node.attributes);
  const bool is_signed = nodes.initialiser(node.inputs[of_zero])->type == Type::I8;
  attributes.push_back(int_attribute("is_signed", is_signed ? 1 : 0));
  nodes.become(node, "QuantizeByInverse", {node.inputs[of_values], inverse, zero_of(nodes, node)});
  node.attributes = std::move(attributes);
  node.domain = "weft";
  return true;
}

// What becomes bytes for nobody but its own floats again.
bool round_in_floats(Nodes& nodes, NodeProto& node) {
  if (node.op != "DequantizeLinear" || !is_plain(nodes, node)) return false;
  const Name bytes = node.inputs[of_values];
  NodeProto* before = nodes.producer(bytes);
  if (before == nullptr || before->op != "QuantizeLinear" || !is_plain(nodes, *before) ||
      !nodes.has_one_reader(bytes) || !is_same_scale(nodes, *before, node) ||
      !quantize_by_inverse(nodes, *before))
    return false;
  std::vector<Name> inputs = before->inputs;
  inputs.push_back(node.inputs[of_scale]);
  std::vector<AttributeProto> attributes = std::move(before->attributes);
  nodes.become(*before, {}, {});
  nodes.become(node, "RoundByInverse", inputs);
  node.attributes = std::move(attributes);
  node.domain = "weft";
  return true;
}

// Of zero points, all the least that bytes can be.
bool are_least(const TensorProto& zeros) {
  const auto all = numbers<std::uint8_t>(zeros);
  const std::uint8_t least = zeros.type == Type::I8 ? 128 : 0;
  return !all.empty() && std::ranges::count(all, least) == std::ssize(all);
}

// Steps down from the zero point are none where that is the least.
bool leave_out_relu(Nodes& nodes, NodeProto& node) {
  if (!is_plain(nodes, node) || !are_least(*nodes.initialiser(node.inputs[of_zero]))) return false;
  const Name values = node.inputs[of_values];
  NodeProto* relu = nodes.producer(values);
  const auto scales = numbers<float>(*nodes.initialiser(node.inputs[of_scale]));
  const auto is_positive = [](float scale) { return scale > 0; };
  if (relu == nullptr || relu->op != "Relu" || !relu->domain.empty() ||
      !nodes.has_one_reader(values) || scales.empty() || !std::ranges::all_of(scales, is_positive))
    return false;
  nodes.read_instead(node, of_values, relu->inputs[0]);
  nodes.become(*relu, {}, {});
  return true;
}

bool leave_out_zero(Nodes& nodes, NodeProto& node) {
  if (node.op != "DequantizeLinear" || !is_plain(nodes, node) || !zero_of(nodes, node).empty())
    return false;
  std::vector<AttributeProto> attributes = std::move(node.attributes);
  nodes.become(node, node.op, {node.inputs[of_values], node.inputs[of_scale]});
  node.attributes = std::move(attributes);
  return true;
}

bool keep_bytes(Nodes& nodes, NodeProto& node) {
  if (!is_plain(nodes, node)) return false;
  if (const NodeProto* from = dequantiser(nodes, node, of_values)) {
    if (!is_same_scale(nodes, *from, node)) return false;
    nodes.become(node, "Identity", {from->inputs[of_values]});
    node.domain = {};
    return true;
  }
  NodeProto* between = nodes.producer(node.inputs[of_values]);
  const std::size_t count = between == nullptr ? 0 : chosen_inputs(*between);
  if (count == 0 || !nodes.has_one_reader(between->outputs[0])) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const NodeProto* from = dequantiser(nodes, *between, i);
    if (from == nullptr || !is_same_scale(nodes, *from, node)) return false;
  }
  for (std::size_t i = 0; i < count; ++i)
    nodes.read_instead(*between, i, dequantiser(nodes, *between, i)->inputs[of_values]);
  const Name output = node.outputs[0];
  nodes.remove(node);
  nodes.give(*between, output);
  return true;
}

}  // namespace weft::onnx
