#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <weft/error.h>

#include "tensors.h"

namespace weft::onnx {
namespace {

[[noreturn]] void refuse(std::string_view wanted, const Value& value) {
  std::string_view what = "nothing";
  if (value.is_tensor()) what = "a tensor";
  if (value.is_text()) what = "strings";
  if (value.is_sequence()) what = "a sequence";
  if (value.is_map()) what = "a map";
  user_error(fmt::format("onnx: {} where {} is expected", what, wanted));
}

Tensor tensor_of(const Dim& element, const Options& options) {
  if (!element.is_symbolic()) return Tensor::constant(element.uop()->lo(), options);
  const Tensor size = Tensor::from(Operand(element.uop(), Symbol(), false));
  return size.cast(options.dtype).to(options.device);
}

// From each of several numbers to the next; nothing where that differs. Distances wrap, as sums do.
std::optional<std::int64_t> even_step(const std::vector<std::int64_t>& numbers) {
  const auto from = [&](std::size_t i) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(numbers[i + 1]) -
                                     static_cast<std::uint64_t>(numbers[i]));
  };
  if (numbers.size() < 3) return std::nullopt;
  for (std::size_t i = 1; i + 1 < numbers.size(); ++i)
    if (from(i) != from(0)) return std::nullopt;
  return from(0);
}

}  // namespace

Tensor tensor_of(const Value::Known& known, const std::string& device) {
  const Options options{.dtype = known.dtype, .device = device};
  const std::vector<Dim>& all = known.elements;
  if (known.is_scalar) return tensor_of(all.at(0), options);
  const auto count = static_cast<std::int64_t>(all.size());
  if (all.empty()) return Tensor::zeros({0}, options);
  const auto is_first = [&](const Dim& each) { return each.uop().is(all[0].uop()); };
  if (std::ranges::all_of(all, is_first))  // takes no memory
    return tensor_of(all[0], options).reshape({1}).expand({count});
  if (std::ranges::any_of(all, &Dim::is_symbolic)) {
    std::vector<Tensor> elements;
    for (const Dim& each : all) elements.push_back(tensor_of(each, options));
    return Tensor::stack(elements);
  }
  std::vector<std::int64_t> numbers;
  for (const Dim& each : all) numbers.push_back(each.uop()->lo());
  if (const auto step = even_step(numbers)) {  // takes no memory either
    const Tensor place = Tensor::arange(count, {.dtype = dtypes::i64, .device = device});
    return (place * *step + numbers[0]).cast(known.dtype);
  }
  return Tensor(numbers, {.device = device}).cast(known.dtype);
}

Value::Value(Tensor tensor) : held_(std::move(tensor)) {
  if (std::get<Tensor>(held_).is_null()) held_ = {};
}

Value::Value(Tensor tensor, Type type) : Value(std::move(tensor)) {
  if (is_empty()) return;
  const DType dtype = dtype_of(type), given = std::get<Tensor>(held_).dtype();
  if (given != dtype)
    user_error(fmt::format("onnx: elements of {} are held in {}, not in {}", name_of(type),
                           dtype.str(), given.str()));
  if (type != type_of(dtype)) type_ = type;
}

Value::Value(Sequence sequence) : held_(std::make_shared<const Sequence>(std::move(sequence))) {}

Value::Value(Map map) : held_(std::make_shared<const Map>(std::move(map))) {}

Value Value::known(std::vector<Dim> elements, bool is_scalar, DType dtype) {
  if (is_scalar && elements.size() != 1)
    user_error(fmt::format("onnx: {} elements where one is expected", elements.size()));
  Value value;
  value.held_ = std::make_shared<const Known>(Known{std::move(elements), is_scalar, dtype});
  return value;
}

bool Value::is_tensor() const {
  return std::holds_alternative<Tensor>(held_) || known() != nullptr;
}
bool Value::is_text() const { return std::holds_alternative<std::shared_ptr<const Text>>(held_); }
bool Value::is_sequence() const {
  return std::holds_alternative<std::shared_ptr<const Sequence>>(held_);
}
bool Value::is_map() const { return std::holds_alternative<std::shared_ptr<const Map>>(held_); }

Tensor Value::tensor() const {
  if (const Known* integers = known()) return tensor_of(*integers, default_device());
  if (!is_tensor()) refuse("a tensor", *this);
  return std::get<Tensor>(held_);
}

const Text& Value::text() const {
  if (!is_text()) refuse("a tensor of strings", *this);
  return *std::get<std::shared_ptr<const Text>>(held_);
}

const Sequence& Value::sequence() const {
  if (!is_sequence()) refuse("a sequence", *this);
  return *std::get<std::shared_ptr<const Sequence>>(held_);
}

const Map& Value::map() const {
  if (!is_map()) refuse("a map", *this);
  return *std::get<std::shared_ptr<const Map>>(held_);
}

Type Value::type() const {
  if (is_text()) return Type::String;
  if (const Known* integers = known()) return type_of(integers->dtype);
  if (type_ != Type::Undefined || !is_tensor()) return type_;
  return type_of(std::get<Tensor>(held_).dtype());
}

const Value::Known* Value::known() const {
  const auto* found = std::get_if<std::shared_ptr<const Known>>(&held_);
  return found == nullptr ? nullptr : found->get();
}

}  // namespace weft::onnx
