// Writes models as ONNX files, node by node.
//
//   onnx::Writer net("digits", 22);
//   const auto x = net.input("image", onnx::Type::F32, {"batch", 1, 28, 28});
//   const auto w = net.constant("weight", conv.weight);
//   const auto y = net.node("Conv", {x, w}, {{"pads", {1, 1, 1, 1}}});
//   net.output("maps", net.node("Relu", {y}));
//   net.save("digits.onnx");
//
// Values are known by their names. What a file may not have is refused where it is asked for: names that nothing
// gives, or that are given twice, domains without a version, outputs whose shape nobody can tell.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <weft/onnx.h>

namespace weft::onnx {

class Graph;
struct GraphState;

using Names = std::vector<std::string>;
// Sizes, and names of those that are open: {"batch", 1, 28, 28}. An empty name stands for any size.
using Sizes = std::vector<std::variant<std::int64_t, std::string>>;

// What is written of an attribute: its kind follows from the value. Real numbers become floats of 32 bits.
class Attribute {
 public:
  // One of {1, 2} or {"tanh", "relu"}, which are of one kind. Integers beside reals are reals.
  class Element {
   public:
    template <std::integral N>
    Element(N number) : held_(integer(number)) {}                  // NOLINT
    Element(double number) : held_(static_cast<float>(number)) {}  // NOLINT
    Element(const char* text) : held_(std::string(text)) {}        // NOLINT
    Element(std::string text) : held_(std::move(text)) {}          // NOLINT
    Element(Tensor tensor) : held_(Value(std::move(tensor))) {}    // NOLINT
    Element(Value value) : held_(std::move(value)) {}              // NOLINT

   private:
    friend class Attribute;
    std::variant<std::int64_t, float, std::string, Value> held_;
  };

  template <std::integral N>
  Attribute(N number) : held_(integer(number)) {}                        // NOLINT
  Attribute(double number) : held_(static_cast<float>(number)) {}        // NOLINT
  Attribute(const char* text) : held_(std::string(text)) {}              // NOLINT
  Attribute(std::string text) : held_(std::move(text)) {}                // NOLINT
  Attribute(Type type) : held_(static_cast<std::int64_t>(type)) {}       // NOLINT
  Attribute(Tensor tensor) : held_(Value(std::move(tensor))) {}          // NOLINT
  Attribute(Value value) : held_(std::move(value)) {}                    // NOLINT
  Attribute(const Graph& graph);                                         // NOLINT
  Attribute(std::initializer_list<Element> list);                        // NOLINT
  Attribute(std::vector<std::int64_t> list) : held_(std::move(list)) {}  // NOLINT
  Attribute(std::vector<float> list) : held_(std::move(list)) {}         // NOLINT
  Attribute(std::vector<std::string> list) : held_(std::move(list)) {}   // NOLINT
  Attribute(std::vector<Value> tensors) : held_(std::move(tensors)) {}   // NOLINT

  using Held = std::variant<std::int64_t, float, std::string, Value,
                            std::shared_ptr<const GraphState>, std::vector<std::int64_t>,
                            std::vector<float>, std::vector<std::string>, std::vector<Value>>;
  const Held& held() const { return held_; }

 private:
  friend class Graph;
  Attribute frozen() const;  // graphs are as they now are

  // Those of a file are i64.
  template <std::integral T>
  static std::int64_t integer(T number) {
    const auto result = static_cast<std::int64_t>(number);
    if (std::unsigned_integral<T> && result < 0) refuse(static_cast<std::uint64_t>(number));
    return result;
  }
  [[noreturn]] static void refuse(std::uint64_t number);

  Held held_;
};

using Attributes = std::vector<std::pair<std::string, Attribute>>;

struct NodeOptions {
  std::string domain = {};  // empty: the standard's
  std::string name = {};    // empty: the operator with a number
};

// Values and nodes, in order. A copy is the same graph.
class Graph {
 public:
  // These return the name. Constants are tensors or strings, computed when the file is written.
  std::string input(const std::string& name, Type type, const Sizes& shape);
  std::string constant(const std::string& name, const Value& value);

  // A node of one output, whose name is returned. An empty name among the inputs leaves that one out.
  std::string node(const std::string& op, const Names& inputs, const Attributes& attributes = {},
                   const NodeOptions& options = {});
  // One of so many outputs, or of outputs with these names, where an empty one is left out.
  Names node_with(std::size_t outputs, const std::string& op, const Names& inputs,
                  const Attributes& attributes = {}, const NodeOptions& options = {});
  Names node_with(const Names& outputs, const std::string& op, const Names& inputs,
                  const Attributes& attributes = {}, const NodeOptions& options = {});

  // A value that is an output, by this name. Without type and shape they are found by following the model's
  // operators for inputs of open sizes; where that fails, save() says so.
  void output(const std::string& name, const std::string& value);
  void output(const std::string& name, const std::string& value, Type type, const Sizes& shape);

  // For an attribute of one of this graph's nodes: names of values around it hold there too.
  Graph subgraph(const std::string& name) const;

 protected:
  friend class Attribute;
  explicit Graph(std::shared_ptr<GraphState> state) : state_(std::move(state)) {}
  std::shared_ptr<GraphState> state_;
};

struct SaveOptions {
  // Constants of so many bytes and more go to a file beside it, of that name and ".data"; 0: none.
  std::size_t external_bytes = 0;
};

class Writer : public Graph {
 public:
  // The version of the standard's operators.
  Writer(const std::string& name, int opset);

  // The version of another domain's operators, before the first node of them.
  void use(const std::string& domain, int opset);
  void metadata(const std::string& key, const std::string& value);

  std::vector<std::byte> bytes() const;
  // Files are as they were until the new ones are complete.
  void save(const std::string& path, const SaveOptions& options = {}) const;
};

}  // namespace weft::onnx
