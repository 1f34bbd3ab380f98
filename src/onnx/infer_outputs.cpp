#include "infer_outputs.h"

#include <fmt/format.h>
#include <weft/dev/ir/uop.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/error.h>

#include "runner.h"

namespace weft::onnx {
namespace {

using Inputs = std::vector<std::pair<std::string_view, Value>>;

// Symbols for sizes by their names; each unnamed one is another.
class OpenSizes {
 public:
  Dim of(const std::string& name) {
    if (name.empty()) return symbol(fmt::format("open{}", unnamed_++));
    const auto found = sizes_.find(name);
    if (found != sizes_.end()) return found->second;
    return sizes_.emplace(name, symbol("size_" + fmt::to_string(sizes_.size()))).first->second;
  }
  // As a file has it: without a name where it is no number and none of the named ones.
  std::variant<std::int64_t, std::string> written(const Dim& size) const {
    const UOp simple = simplify(size.uop());
    if (simple->is_const()) return simple->lo();
    for (const auto& [name, each] : sizes_)
      if (simplify(each.uop()).is(simple)) return name;
    return std::string();
  }

 private:
  // Whatever follows holds for all of these.
  static Dim symbol(const std::string& name) {
    constexpr std::int64_t least = 1, most = std::int64_t(1) << 20, some = 2;
    return Variable(name, least, most).bind(some);
  }

  std::map<std::string, Dim> sizes_;
  int unnamed_ = 0;
};

// Of no values in particular.
Value example(const Port& port, OpenSizes& sizes) {
  std::vector<Dim> dims;
  for (const auto& size : port.shape) {
    const auto* name = std::get_if<std::string>(&size);
    dims.push_back(name != nullptr ? sizes.of(*name) : Dim(std::get<std::int64_t>(size)));
  }
  if (port.type != Type::String)
    return {Tensor::zeros(Shape(dims), {.dtype = dtype_of(port.type)}), port.type};
  Text text;
  std::size_t count = 1;
  for (const Dim& dim : dims) {
    if (dim.is_symbolic()) user_error(fmt::format("'{}' are strings of open sizes", port.name));
    text.shape.push_back(dim.uop()->lo());
    count *= static_cast<std::size_t>(dim.uop()->lo());
  }
  text.values.resize(count);
  return text;
}

Port port_of(const std::string& name, const Value& value, const OpenSizes& sizes) {
  if (!value.is_tensor() && !value.is_text()) user_error(fmt::format("'{}' is no tensor", name));
  Port port{name, value.type(), true, {}, "tensor"};
  if (value.is_text()) {
    port.shape.assign(value.text().shape.begin(), value.text().shape.end());
    return port;
  }
  for (const Dim& dim : value.tensor().dims()) port.shape.push_back(sizes.written(dim));
  return port;
}

}  // namespace

std::vector<Port> inferred_outputs(const std::vector<Port>& inputs,
                                   const std::vector<Port>& outputs, const std::string& file,
                                   const std::vector<std::pair<std::string, Value>>& outside) {
  const InFile in{"a model to be written"};
  const Bytes bytes = std::as_bytes(std::span(file));
  ModelProto proto = parse_model(bytes, in);
  std::erase_if(proto.graph.initialisers, &TensorProto::is_external);
  // What views of the file are made is gone before it is.
  const Weights weights(in, std::make_shared<const Mapping>(std::vector<std::byte>()), {}, {});
  Runner runner(proto, weights, {});
  OpenSizes sizes;
  Inputs given;
  for (const Port& port : inputs) given.emplace_back(port.name, example(port, sizes));
  for (const auto& [name, value] : outside) given.emplace_back(name, value);
  runner.run_constants();
  const Values values = runner.run(given);
  if (runner.has_read()) user_error("values of inputs decide about them");
  std::vector<Port> result;
  for (std::size_t i = 0; i < values.size(); ++i)
    result.push_back(port_of(outputs[i].name, values[i], sizes));
  return result;
}

}  // namespace weft::onnx
