// A network under construction: its file, its values with their shapes, and the numbers that decide what comes next.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <weft/onnx_writer.h>

namespace weft::bench {

using Shape = std::vector<std::int64_t>;

struct Value {
  std::string name;
  Shape shape;

  std::int64_t size(std::size_t axis) const { return shape.at(axis); }
  std::size_t rank() const { return shape.size(); }
};

std::int64_t elements_of(const Shape& shape);

class Drawn {
 public:
  Drawn(const std::string& name, std::uint64_t seed);

  // --- What comes next ---
  std::int64_t between(std::int64_t least, std::int64_t most);
  bool chance(double of_all);
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[between(0, static_cast<std::int64_t>(all.size()) - 1)];
  }

  // --- The file ---
  Value input(const Shape& shape);
  Value tokens(const Shape& shape, std::int64_t vocabulary);
  // As the network has its weights: drawn, or all alike in a tenth of the networks, which write them as
  // ConstantOfShape. Of one shape they are the same ones in a twentieth.
  Value weight(const Shape& shape, std::int64_t summed = 1);
  Value numbers(const Shape& shape, float least, float most);
  Value constant(const std::vector<float>& all, const Shape& shape);
  std::string integers(const std::vector<std::int64_t>& all);
  Value node(const std::string& op, const std::vector<Value>& inputs, const Shape& shape,
             const onnx::Attributes& attributes = {});
  std::vector<Value> node_with(const std::string& op, const std::vector<Value>& inputs,
                               const std::vector<Shape>& shapes,
                               const onnx::Attributes& attributes = {});
  // The last value is the only output, as its users have it.
  void output(const Value& value);

  // --- Steps of all families ---
  Value unary(const std::string& op, const Value& x) { return node(op, {x}, x.shape); }
  Value binary(const std::string& op, const Value& a, const Value& b);  // broadcasts
  Value activation(const Value& x);
  Value reshape(const Value& x, const Shape& shape);
  Value transpose(const Value& x, const std::vector<std::int64_t>& axes);
  Value concat(const std::vector<Value>& parts, std::size_t axis);
  std::vector<Value> split(const Value& x, const std::vector<std::int64_t>& sizes,
                           std::size_t axis);
  Value slice(const Value& x, std::size_t axis, std::int64_t start, std::int64_t end,
              std::int64_t step);
  // Of the last axis.
  Value linear(const Value& x, std::int64_t width);
  Value layernorm(const Value& x);
  Value reduce(const std::string& op, const Value& x, const std::vector<std::int64_t>& axes,
               bool keeps);

  const onnx::Writer& file() const { return file_; }

 private:
  std::string next(const std::string& stem) { return stem + std::to_string(++count_); }

  std::mt19937_64 random_;
  onnx::Writer file_;
  bool are_alike_;
  std::map<Shape, Value> weights_;
  int count_ = 0;
};

}  // namespace weft::bench
