#include "model_inputs.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/data.h>
#include <weft/dev/engine/callers.h>
#include <weft/dev/onnx/load_value.h>
#include <weft/error.h>
#include <weft/io.h>
#include <weft/settings.h>

#include "image_input.h"
#include "precision.h"

namespace weft::cli {
namespace {

using onnx::Model;
using onnx::Port;
using onnx::Type;
using onnx::Value;

bool is_open(const std::variant<std::int64_t, std::string>& size) {
  const auto* number = std::get_if<std::int64_t>(&size);
  return number == nullptr || *number <= 0;
}

std::vector<std::int64_t> shape_of(const Port& port) {
  std::vector<std::int64_t> shape;
  for (const auto& size : port.shape) shape.push_back(is_open(size) ? 1 : std::get<0>(size));
  return shape;
}

// In the type of the input, where several types share a dtype.
Value in_type_of(const Port& port, const Tensor& tensor) {
  if (port.type == Type::Undefined || port.type == Type::String) return tensor;
  const Value plain(tensor);
  return tensor.dtype() == onnx::dtype_of(port.type) ? Value(tensor, port.type) : plain;
}

// --- Made up ----------------------------------------------------------------------------------------

Value value_for(const Port& port) {
  if (port.kind == "optional") return {};
  if (port.kind != "tensor" || port.type == Type::String)
    user_error(fmt::format("a {} cannot be generated: name a file by --input {}=FILE",
                           port.kind == "tensor" ? "tensor of strings" : port.kind, port.name));
  const DType dtype = onnx::dtype_of(port.type);
  const bool is_packed = Value(Tensor::zeros({}, {.dtype = dtype})).type() != port.type;
  if (is_packed)
    return in_type_of(port, Tensor::zeros(Shape(shape_of(port)), {.dtype = dtype}).contiguous());
  return made_up(shape_of(port), dtype);
}

// --- Read --------------------------------------------------------------------------------------------

Tensor from_npz(const Port& port, const std::string& file) {
  const auto arrays = load_npz(file);
  if (const auto found = arrays.find(port.name); found != arrays.end()) return found->second;
  if (arrays.size() == 1) return arrays.begin()->second;
  std::vector<std::string_view> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  user_error(
      fmt::format("'{}' has no array of that name; it has {}", file, fmt::join(names, ", ")));
}

// A string in each line; all of the text where the input is one string.
Value from_text(const Port& port, const std::string& file) {
  std::string text = load_text(file);
  if (text.ends_with('\n')) text.pop_back();
  onnx::Text result{shape_of(port), {}};
  const auto opens = std::ranges::count_if(port.shape, is_open);
  std::int64_t others = 1;  // elements, in the sizes that are known
  for (const std::int64_t size : result.shape) others *= size;
  if (opens == 0 && others == 1 && port.has_shape) {
    result.values = {text};
    return result;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result.values.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto lines = static_cast<std::int64_t>(result.values.size());
  if (!port.has_shape) result.shape = {lines};
  const auto open = std::ranges::find_if(port.shape, is_open);
  if (open != port.shape.end() && others > 0 && lines % others == 0)
    result.shape[static_cast<std::size_t>(open - port.shape.begin())] = lines / others;
  else if (port.has_shape && lines != others)
    user_error(
        fmt::format("'{}' has {} lines, where {} strings are expected", file, lines, others));
  return result;
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end) return {};
  return number;
}

Value from_file(const Port& port, const std::string& file, const ImageOptions& images) {
  const std::filesystem::path path(file);
  if (!std::filesystem::exists(path)) user_error(fmt::format("there is no file '{}'", file));
  if (path.extension() == ".pb") return onnx::load_value(file, port);
  if (path.extension() == ".npy") return in_type_of(port, load_npy(file));
  if (path.extension() == ".npz") return in_type_of(port, from_npz(port, file));
  if (port.type == Type::String) return from_text(port, file);
  if (is_image(file)) return in_type_of(port, image_input(port, file, images));
  user_error(fmt::format("'{}' is not a .npy, .npz, .pb or image file", file));
}

Value value_of(const Port& port, const std::string& given, const ImageOptions& images) {
  if (given == "random") return value_for(port);
  const auto number = number_of(given);
  const bool takes_numbers = port.kind == "tensor" && port.type != Type::String;
  if (!number || !takes_numbers || std::filesystem::exists(given))
    return from_file(port, given, images);
  const Options options{.dtype = onnx::dtype_of(port.type)};
  return in_type_of(port, Tensor::full(shape_of(port), *number, options).contiguous());
}

// In memory before anything is timed.
Value realized(const Value& value) {
  if (!value.is_tensor() || value.known() != nullptr) return value;
  return Value(value.tensor().contiguous().realize(), value.type());
}

void check_names(const Model& model, const std::map<std::string, std::string>& files) {
  std::vector<std::string_view> names;
  for (const Port& port : model.inputs()) names.push_back(port.name);
  for (const auto& [name, file] : files)
    if (std::ranges::find(names, name) == names.end())
      user_error(
          fmt::format("there is no input '{}'; the inputs are {}", name, fmt::join(names, ", ")));
}

}  // namespace

void use_device(const ModelOptions& options) {
  if (options.threads > 0) set_setting("WEFT_THREADS", options.threads);
  if (!options.device.empty()) set_setting("DEV", std::string_view(options.device));
  find_device(default_device());  // throws where there is none
}

Model load_model(const ModelOptions& options) {
  use_device(options);
  if (!std::filesystem::exists(options.file))
    user_error(fmt::format("there is no file '{}'", options.file));
  return Model::load(options.file, load_options(options));
}

onnx::LoadOptions load_options(const ModelOptions& options) {
  const PrecisionOptions& precision = options.precision;
  if (precision.all.size() > 1)
    user_error(
        "--precision: several types for all layers need --max-error, which chooses among them");
  onnx::LoadOptions result{.shapes = options.shapes,
                           .layer_precisions = stated_precisions(precision)};
  if (!precision.all.empty()) result.precision = precision.all[0];
  return result;
}

Tensor made_up(const std::vector<std::int64_t>& shape, DType dtype) {
  const Shape sizes(shape);
  if (dtype.is_bool()) return Tensor::ones(sizes, {.dtype = dtype}).contiguous();
  if (dtype.is_float()) return Tensor::rand(sizes).cast(dtype);
  constexpr std::int64_t most = 100;  // every integer type has it, and most tables of embeddings
  const std::int64_t count = Tensor::empty(sizes).numel();
  return (Tensor::arange(count, {.dtype = dtypes::i64}) % most).cast(dtype).reshape(sizes);
}

onnx::NamedValues model_inputs(const Model& model, const std::map<std::string, std::string>& files,
                               const ImageOptions& images) {
  check_names(model, files);
  Tensor::manual_seed(0);
  onnx::NamedValues values;
  for (const Port& port : model.inputs()) {
    const auto file = files.find(port.name);
    const NamedScope scope(port.name, "input");
    try {
      values[port.name] =
          realized(value_of(port, file == files.end() ? "random" : file->second, images));
    } catch (const Error& error) {
      throw Error(fmt::format("input '{}': {}", port.name, error.what()));
    }
  }
  return values;
}

RecordedCall recorded(const Model& model, const onnx::NamedValues& inputs) {
  const NotingCallers noting;
  model(inputs);
  return RecordedCall([&] { return std::any(model(inputs)); });
}

std::vector<std::string> open_inputs(const Model& model) {
  std::vector<std::string> names;
  for (const Port& port : model.inputs())
    if (std::ranges::any_of(port.shape, is_open)) names.push_back(port.name);
  return names;
}

std::string port_text(const Port& port) {
  std::vector<std::string> sizes;
  for (const auto& size : port.shape) {
    const auto* name = std::get_if<std::string>(&size);
    if (name != nullptr)
      sizes.push_back(name->empty() ? "?" : *name);
    else
      sizes.push_back(is_open(size) ? "?" : fmt::to_string(std::get<0>(size)));
  }
  const std::string shape = port.has_shape ? fmt::format(" ({})", fmt::join(sizes, ", ")) : "";
  if (port.kind == "tensor") return fmt::format("{}{}", onnx::name_of(port.type), shape);
  return port.kind;
}

}  // namespace weft::cli
