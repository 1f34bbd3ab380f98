// Models in ONNX files.
//
//   onnx::Model model = onnx::Model::load("resnet50.onnx");
//   Tensor scores = model({{"data", image}}).at("scores").tensor();
//
// The operators of a model become tensors when it is called: the compiler sees one graph, whatever the nodes
// were. What only depends on the model's constants is computed once. Calls with arguments of the same shapes run
// what the first of them captured, as jit() does, unless shapes of the model depend on values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <weft/tensor.h>

namespace weft::onnx {

// Numbers of TensorProto.DataType.
enum class Type : std::uint8_t {
  Undefined,
  F32,
  U8,
  I8,
  U16,
  I16,
  I32,
  I64,
  String,
  Bool,
  F16,
  F64,
  U32,
  U64,
  C64,
  C128,
  BF16,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  U4,
  I4,
  F4E2M1,
  F8E8M0,
  U2,
  I2,
  F6E2M3,
  F6E3M2,
};

std::string_view name_of(Type type);  // in the words of the standard
DType dtype_of(Type type);  // that of the tensor that holds such elements; throws where none does

// A tensor of strings.
struct Text {
  std::vector<std::int64_t> shape;
  std::vector<std::string> values;  // in row-major order
};

class Value;
using Sequence = std::vector<Value>;
// Of ai.onnx.ml: from integers or strings, in order of the keys.
using Map = std::map<std::variant<std::int64_t, std::string>, Value>;

// What an input or output is: nothing (an optional without a value), a tensor, strings, a sequence, a map.
class Value {
 public:
  Value() = default;
  Value(Tensor tensor);  // NOLINT: values read as they are
  // Of a type that tensors have none for: integers of fewer than 8 bits are held in i8 and u8, and such floats
  // in f32, by their values; floats of 8 bits that dtypes have no name for in u8, by their bits.
  Value(Tensor tensor, Type type);
  Value(Text text) : held_(std::make_shared<const Text>(std::move(text))) {}  // NOLINT
  Value(Sequence sequence);                                                   // NOLINT
  Value(Map map);                                                             // NOLINT
  // Integers that are known without running anything, numbers or symbolic: a tensor of one axis or none.
  static Value known(std::vector<Dim> elements, bool is_scalar = false, DType dtype = dtypes::i64);

  bool is_empty() const { return std::holds_alternative<std::monostate>(held_); }
  bool is_tensor() const;  // known integers too
  bool is_text() const;
  bool is_sequence() const;
  bool is_map() const;
  // These throw where it is something else.
  Tensor tensor() const;
  const Text& text() const;
  const Sequence& sequence() const;
  const Map& map() const;

  Type type() const;  // of a tensor's or of strings' elements, else undefined
  struct Known {
    std::vector<Dim> elements;
    bool is_scalar;
    DType dtype;
  };
  const Known* known() const;  // null where the elements are not known

 private:
  std::variant<std::monostate, Tensor, std::shared_ptr<const Text>, std::shared_ptr<const Sequence>,
               std::shared_ptr<const Map>, std::shared_ptr<const Known>>
      held_;
  Type type_ = Type::Undefined;
};

using NamedValues = std::map<std::string, Value, std::less<>>;

// An input or output as the file declares it.
struct Port {
  std::string name = {};
  Type type = Type::Undefined;  // of elements; undefined where it is no tensor
  bool has_shape = false;
  std::vector<std::variant<std::int64_t, std::string>> shape =
      {};                 // a size, or its name (empty: none)
  std::string kind = {};  // "tensor", "sequence", "optional", "map"
};

// What a layer multiplies: its factors are rounded to this, and weights are held in it. Sums of floats are f32, those
// of I8 i32 and exact; what a layer gives is in the model's own type.
enum class Precision : std::uint8_t {
  F32,  // as the model has it
  BF16,
  F16,
  I8,  // a scale for each channel of weights, and one for each input, found anew in every call
};

std::string_view name_of(Precision precision);  // f32, bf16, f16, int8
std::optional<Precision> parse_precision(std::string_view name);

// By the name of a layer.
using Precisions = std::map<std::string, Precision, std::less<>>;

struct LoadOptions {
  std::map<std::string, std::vector<std::int64_t>> shapes = {};  // of inputs
  std::map<std::string, Dim> dimensions = {};                    // by their names in the file
  std::string device = {};                                       // empty: default_device()
  bool trainable = false;                // initialisers of floats require gradients
  Precision precision = Precision::F32;  // of all layers that can have it
  Precisions layer_precisions = {};      // of these, whatever the others have
  std::string name = {};                 // in errors; empty: its path, or that it is in memory
};

// A node whose operator sums products: convolutions, products of matrices, attention, recurrent cells.
struct Layer {
  std::string name;    // the node's, else its first output's
  std::string output;  // the first; this name is understood too
  std::string op;
  Precision precision;
  bool has_i8;     // its operator is also one of integers
  bool is_inside;  // of a branch, a loop or a function
};

// What the nodes of a model are, counted.
struct OpUse {
  std::string domain, name;
  int opset = 0;
  std::size_t nodes = 0;
  std::string first_node;  // the name of one
  bool is_supported = false;
};

// What a call takes.
struct CallCost {
  RunCost run;
  std::vector<ScheduleItem> kernels;  // and copies, in order
  // Inputs decide, by their values, what is computed: what it took to know them is not counted.
  bool depends_on_values = false;
};

class Model {
 public:
  // What calls share.
  struct State;

  static Model load(const std::string& path, const LoadOptions& options = {});
  // External data are looked for in `folder`; where it is empty there are none.
  static Model parse(std::span<const std::byte> bytes, const LoadOptions& options = {},
                     const std::string& folder = {});

  const std::vector<Port>& inputs() const;  // without those that initialisers stand for
  const std::vector<Port>& outputs() const;
  std::vector<OpUse> ops() const;  // functions expanded
  std::vector<Layer> layers() const;

  NamedValues operator()(const NamedValues& inputs) const;
  // Of such a call, which does not run.
  CallCost cost(const NamedValues& inputs) const;

  // The initialisers by name: training assigns to them, save() writes what they then are.
  std::map<std::string, Tensor> parameters() const;
  void save(const std::string& path) const;

 private:
  std::shared_ptr<State> state_;
};

// --- What precision costs ---------------------------------------------------------------------------

// How far values are from those in f32, whose products are all summed there (none by WINOGRAD): the furthest, of the
// largest of these, and the root of the mean square, of that of these. Of several calls it is the largest of each.
struct Difference {
  double largest = 0, rms = 0;
};

struct LayerComparison {
  Layer layer;
  double products = 0;  // that a call sums
  Difference alone;     // of inputs in f32
  Difference together;  // where all layers have their precisions
};

struct Comparison {
  std::vector<LayerComparison> layers;  // without those inside of others
  std::vector<std::pair<std::string, Difference>> outputs;

  double error() const;  // the furthest that any output is
};

// Calls of the model in a file, in the precisions that `options` says and in f32.
Comparison compare(const std::string& path, std::span<const NamedValues> calls,
                   const LoadOptions& options);

struct PrecisionSearch {
  std::vector<Precision> candidates = {Precision::BF16};
  double max_error = 0;  // that outputs of these calls may have, as Comparison::error()
};

// For each layer the cheapest of the candidates, as far as the error allows: products that cost the least of it
// become cheaper first. What options.layer_precisions says stays so, and is not in the result.
Precisions choose_precisions(const std::string& path, std::span<const NamedValues> calls,
                             const LoadOptions& options, const PrecisionSearch& search);

// Of one call.
inline Comparison compare(const std::string& path, const NamedValues& inputs,
                          const LoadOptions& options) {
  return compare(path, std::span(&inputs, 1), options);
}
inline Precisions choose_precisions(const std::string& path, const NamedValues& inputs,
                                    const LoadOptions& options, const PrecisionSearch& search) {
  return choose_precisions(path, std::span(&inputs, 1), options, search);
}

// --- What there is ---------------------------------------------------------------------------------

struct SupportedOp {
  std::string_view domain, name;
  std::vector<int> since;  // the opsets that changed its meaning here
};
std::vector<SupportedOp> supported_ops();  // in order

}  // namespace weft::onnx
