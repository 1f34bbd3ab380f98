#include "drawn.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <weft/tensor.h>

namespace weft::bench {
namespace {

constexpr int opset = 20;
constexpr double share_alike = 0.1, share_tied = 0.05;

// From 0 to 1.
double share(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

}  // namespace

std::int64_t elements_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Drawn::Drawn(const std::string& name, std::uint64_t seed)
    : random_(seed), file_(name, opset), are_alike_(chance(share_alike)) {}

std::int64_t Drawn::between(std::int64_t least, std::int64_t most) {
  return least +
         static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
}

bool Drawn::chance(double of_all) { return share(random_) < of_all; }

Value Drawn::input(const Shape& shape) {
  const std::string name = next("x");
  file_.input(name, onnx::Type::F32, {shape.begin(), shape.end()});
  return {name, shape};
}

Value Drawn::tokens(const Shape& shape, std::int64_t vocabulary) {
  const std::string name = next("tokens");
  file_.input(name, onnx::Type::I64, {shape.begin(), shape.end()});
  // Whatever is given is one of the vocabulary.
  const Value given{name, shape}, size{integers({vocabulary}), {1}};
  return node("Mod", {given, size}, shape);
}

Value Drawn::weight(const Shape& shape, std::int64_t summed) {
  if (const auto known = weights_.find(shape); known != weights_.end() && chance(share_tied))
    return known->second;
  const float most = std::sqrt(3 / static_cast<float>(summed));
  Value made;
  if (are_alike_) {
    const Value sizes{integers(shape), {static_cast<std::int64_t>(shape.size())}};
    made =
        node("ConstantOfShape", {sizes}, shape, {{"value", Tensor(std::vector<float>{most / 8})}});
  } else {
    made = numbers(shape, -most, most);
  }
  return weights_[shape] = made;
}

Value Drawn::numbers(const Shape& shape, float least, float most) {
  std::vector<float> all(static_cast<std::size_t>(elements_of(shape)));
  for (float& each : all)
    each = static_cast<float>(static_cast<double>(least) +
                              share(random_) * static_cast<double>(most - least));
  return constant(all, shape);
}

Value Drawn::constant(const std::vector<float>& all, const Shape& shape) {
  const std::string name = next("w");
  file_.constant(name, Tensor(all).reshape(shape));
  return {name, shape};
}

std::string Drawn::integers(const std::vector<std::int64_t>& all) {
  const std::string name = next("i");
  file_.constant(name, Tensor(all, {.dtype = dtypes::i64}));
  return name;
}

Value Drawn::node(const std::string& op, const std::vector<Value>& inputs, const Shape& shape,
                  const onnx::Attributes& attributes) {
  return node_with(op, inputs, {shape}, attributes)[0];
}

std::vector<Value> Drawn::node_with(const std::string& op, const std::vector<Value>& inputs,
                                    const std::vector<Shape>& shapes,
                                    const onnx::Attributes& attributes) {
  onnx::Names from, to;
  for (const Value& input : inputs) from.push_back(input.name);
  for (std::size_t i = 0; i < shapes.size(); ++i) to.push_back(next("v"));
  file_.node_with(to, op, from, attributes);
  std::vector<Value> values;
  for (std::size_t i = 0; i < shapes.size(); ++i) values.push_back({to[i], shapes[i]});
  return values;
}

void Drawn::output(const Value& value) {
  file_.output("y", value.name, onnx::Type::F32, {value.shape.begin(), value.shape.end()});
}

Value Drawn::binary(const std::string& op, const Value& a, const Value& b) {
  const Value &longer = a.rank() >= b.rank() ? a : b, &shorter = a.rank() >= b.rank() ? b : a;
  Shape shape = longer.shape;
  for (std::size_t i = 0; i < shorter.rank(); ++i) {
    std::int64_t& size = shape[longer.rank() - shorter.rank() + i];
    size = std::max(size, shorter.shape[i]);
  }
  return node(op, {a, b}, shape);
}

Value Drawn::activation(const Value& x) {
  switch (between(0, 9)) {
    case 0: return binary("Mul", x, unary("Sigmoid", x));
    case 1: return unary("HardSwish", x);
    case 2: return node("Gelu", {x}, x.shape, {{"approximate", one_of({"none", "tanh"})}});
    case 3: return node("LeakyRelu", {x}, x.shape, {{"alpha", 0.1}});
    case 4: return unary("Tanh", x);
    case 5: return node("Clip", {x, numbers({}, 0, 0), numbers({}, 6, 6)}, x.shape);
    case 6: return unary("Elu", x);
    default: return unary("Relu", x);
  }
}

Value Drawn::reshape(const Value& x, const Shape& shape) {
  return node("Reshape", {x, {integers(shape), {}}}, shape);
}

Value Drawn::transpose(const Value& x, const std::vector<std::int64_t>& axes) {
  Shape shape;
  for (const std::int64_t axis : axes) shape.push_back(x.size(static_cast<std::size_t>(axis)));
  return node("Transpose", {x}, shape, {{"perm", axes}});
}

Value Drawn::concat(const std::vector<Value>& parts, std::size_t axis) {
  Shape shape = parts[0].shape;
  for (std::size_t i = 1; i < parts.size(); ++i) shape[axis] += parts[i].size(axis);
  return node("Concat", parts, shape, {{"axis", axis}});
}

std::vector<Value> Drawn::split(const Value& x, const std::vector<std::int64_t>& sizes,
                                std::size_t axis) {
  std::vector<Shape> shapes(sizes.size(), x.shape);
  for (std::size_t i = 0; i < sizes.size(); ++i) shapes[i][axis] = sizes[i];
  return node_with("Split", {x, {integers(sizes), {}}}, shapes, {{"axis", axis}});
}

Value Drawn::slice(const Value& x, std::size_t axis, std::int64_t start, std::int64_t end,
                   std::int64_t step) {
  Shape shape = x.shape;
  shape[axis] = (end - start + step - 1) / step;
  const auto one = [&](std::int64_t number) { return Value{integers({number}), {1}}; };
  return node("Slice", {x, one(start), one(end), one(static_cast<std::int64_t>(axis)), one(step)},
              shape);
}

Value Drawn::linear(const Value& x, std::int64_t width) {
  Shape shape = x.shape;
  const std::int64_t summed = shape.back();
  shape.back() = width;
  const Value product = node("MatMul", {x, weight({summed, width}, summed)}, shape);
  return chance(0.8) ? binary("Add", product, weight({width})) : product;
}

Value Drawn::layernorm(const Value& x) {
  const Shape last{x.shape.back()};
  return node("LayerNormalization", {x, numbers(last, 0.5, 1.5), numbers(last, -0.1F, 0.1F)},
              x.shape, {{"axis", -1}, {"epsilon", 1e-5}});
}

Value Drawn::reduce(const std::string& op, const Value& x, const std::vector<std::int64_t>& axes,
                    bool keeps) {
  Shape shape;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const bool is_reduced = std::ranges::find(axes, static_cast<std::int64_t>(i)) != axes.end();
    if (!is_reduced)
      shape.push_back(x.size(i));
    else if (keeps)
      shape.push_back(1);
  }
  return node(op, {x, {integers(axes), {}}}, shape, {{"keepdims", keeps ? 1 : 0}});
}

}  // namespace weft::bench
