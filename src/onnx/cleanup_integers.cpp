// Products between DequantizeLinear and QuantizeLinear, as quantisers write them. Weights stay the bytes that they
// are, and sums are exact.
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

// Scales are floats that are known, and the zero point says that values are bytes; nothing else is said.
bool is_plain(const Nodes& nodes, const NodeProto& node) {
  if (!node.domain.empty() || node.inputs.size() != 3 || !has_input(node, of_values)) return false;
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

// What gives an input of a product from bytes.
const NodeProto* dequantiser(const Nodes& nodes, const NodeProto& product, std::size_t input) {
  const NodeProto* node =
      has_input(product, input) ? nodes.producer(product.inputs[input]) : nullptr;
  const bool fits = node != nullptr && node->op == "DequantizeLinear" && is_plain(nodes, *node);
  return fits ? node : nullptr;
}

// As they lie in the file; empty where they are elsewhere.
template <class Number>
std::vector<Number> numbers(const TensorProto& tensor) {
  Bytes bytes = tensor.raw;
  if constexpr (std::same_as<Number, float>)
    if (bytes.empty()) bytes = tensor.floats.bytes();
  if constexpr (std::same_as<Number, std::int32_t>)
    if (bytes.empty()) return tensor.ints32;
  std::vector<Number> result(bytes.size() / sizeof(Number));
  if (!result.empty()) std::memcpy(result.data(), bytes.data(), result.size() * sizeof(Number));
  return result;
}

// A matrix of weights, with one scale or one for each column of the product, and so few rows that sums of two bytes'
// products stay below this.
bool is_matrix(const Nodes& nodes, const NodeProto& node, std::size_t columns, double most) {
  const TensorProto* weights = nodes.initialiser(node.inputs[of_values]);
  if (weights == nullptr || !is_byte(weights->type) || weights->dims.size() != 2) return false;
  if (static_cast<double>(weights->dims[1 - columns]) * 255 * 255 >= most) return false;
  if (has_one_scale(nodes, node)) return true;
  const std::int64_t axis = integer(node, "axis", 1), wanted = std::int64_t(columns);
  return (axis == wanted || axis == wanted - 2) &&
         nodes.initialiser(node.inputs[of_scale])->dims.size() == 1;
}

// Integers by the scale of the sums that they are added to, which then stay below 2^31.
bool is_bias(const Nodes& nodes, const NodeProto& node, const NodeProto& left,
             const NodeProto& right) {
  if (node.op != "DequantizeLinear" || !node.domain.empty() || node.inputs.size() < 2) return false;
  const TensorProto* bias = nodes.initialiser(node.inputs[of_values]);
  const TensorProto* scale = nodes.initialiser(node.inputs[of_scale]);
  if (bias == nullptr || bias->type != Type::I32 || bias->dims.size() != 1) return false;
  if (scale == nullptr || scale->type != Type::F32) return false;
  if (has_input(node, of_zero)) {
    const TensorProto* zero = nodes.initialiser(node.inputs[of_zero]);
    const auto zeros = zero == nullptr ? std::vector<std::int32_t>() : numbers<std::int32_t>(*zero);
    if (zeros.empty() || std::ranges::count(zeros, 0) != std::ssize(zeros)) return false;
  }
  const auto values = numbers<std::int32_t>(*bias);
  const auto is_small = [](std::int32_t value) { return std::abs(double(value)) < 1 << 30; };
  const auto of_bias = numbers<float>(*scale);
  const auto of_left = numbers<float>(*nodes.initialiser(left.inputs[of_scale]));
  const auto of_right = numbers<float>(*nodes.initialiser(right.inputs[of_scale]));
  if (values.empty() || !std::ranges::all_of(values, is_small)) return false;
  if (of_left.size() != 1 || of_bias.empty() || of_bias.size() != of_right.size()) return false;
  for (std::size_t i = 0; i < of_bias.size(); ++i) {
    const double expected = double(of_left[0]) * double(of_right[i]);
    if (!(std::abs(double(of_bias[i]) - expected) <= 1e-6 * expected)) return false;
  }
  return true;
}

// The inputs of a matrix product as one of integers has them; empty where it cannot be one.
std::vector<Name> matmul_inputs(const Nodes& nodes, const NodeProto& left, const NodeProto& right) {
  constexpr double sums = double(1U << 31);
  if (!is_matrix(nodes, right, 1, sums)) return {};
  std::vector<Name> inputs = left.inputs;
  inputs.insert(inputs.end(), right.inputs.begin(), right.inputs.end());
  return inputs;
}

std::vector<Name> gemm_inputs(const Nodes& nodes, const NodeProto& product, const NodeProto& left,
                              const NodeProto& right) {
  constexpr double half_of_sums = 1 << 30;
  for (const AttributeProto& each : product.attributes) {
    const bool is_factor = each.name == "alpha" || each.name == "beta";
    if (is_factor ? each.floats != std::vector<float>{1}
                  : each.name != "transA" && each.name != "transB")
      return {};
  }
  const std::size_t columns = integer(product, "transB", 0) != 0 ? 0 : 1;
  if (!is_matrix(nodes, right, columns, half_of_sums)) return {};
  std::vector<Name> inputs = left.inputs;
  inputs.insert(inputs.end(), right.inputs.begin(), right.inputs.end());
  inputs.emplace_back();
  if (!has_input(product, 2)) return inputs;
  const NodeProto* bias = nodes.producer(product.inputs[2]);
  if (bias == nullptr || !is_bias(nodes, *bias, left, right)) return {};
  inputs.back() = bias->inputs[of_values];
  return inputs;
}

}  // namespace

bool multiply_integers(Nodes& nodes, NodeProto& node) {
  if (nodes.opset < 10 || !is_plain(nodes, node) || !has_one_scale(nodes, node)) return false;
  NodeProto* product = nodes.producer(node.inputs[of_values]);
  if (product == nullptr || !product->domain.empty() ||
      !nodes.has_one_reader(node.inputs[of_values]))
    return false;
  const bool is_gemm = product->op == "Gemm";
  if (!is_gemm && product->op != "MatMul") return false;
  const NodeProto *left = dequantiser(nodes, *product, 0), *right = dequantiser(nodes, *product, 1);
  if (left == nullptr || right == nullptr || !has_one_scale(nodes, *left)) return false;
  std::vector<Name> inputs =
      is_gemm ? gemm_inputs(nodes, *product, *left, *right) : matmul_inputs(nodes, *left, *right);
  if (inputs.empty()) return false;
  inputs.insert(inputs.end(), node.inputs.begin() + of_scale, node.inputs.end());
  std::vector<AttributeProto> attributes = product->attributes;
  nodes.remove(*product);
  nodes.become(node, is_gemm ? "QGemm" : "QLinearMatMul", std::move(inputs));
  node.attributes = std::move(attributes);
  if (is_gemm) node.domain = "com.microsoft";
  return true;
}

}  // namespace weft::onnx
