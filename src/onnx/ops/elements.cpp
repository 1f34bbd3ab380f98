// What operators move that do not compute: elements of any type, strings too.

#include "elements.h"

#include <algorithm>

namespace weft::onnx {
namespace {

bool is_text(const Call& call, std::size_t input) {
  return call.has(input) && call.value(input).is_text();
}

// Ascending, each once, the empty one first.
std::vector<std::string> strings_in(const Call& call, const std::vector<std::size_t>& inputs) {
  std::vector<std::string> strings{""};
  for (const std::size_t input : inputs) {
    if (!call.has(input)) continue;
    const Text& text = call.text(input);
    strings.insert(strings.end(), text.values.begin(), text.values.end());
  }
  std::ranges::sort(strings);
  const auto rest = std::ranges::unique(strings);
  strings.erase(rest.begin(), rest.end());
  return strings;
}

Tensor numbered(const Call& call, const Text& text, const std::vector<std::string>& strings) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(text.values.size());
  for (const std::string& value : text.values)
    numbers.push_back(std::ranges::lower_bound(strings, value) - strings.begin());
  return Tensor(numbers, call.options(dtypes::i64)).reshape(text.shape);
}

}  // namespace

Elements::Elements(const Call& call, const std::vector<std::size_t>& inputs) {
  const bool is_of_strings =
      std::ranges::any_of(inputs, [&](std::size_t input) { return is_text(call, input); });
  if (is_of_strings) strings_ = strings_in(call, inputs);
  for (const std::size_t input : inputs) {
    if (type_ == Type::Undefined && call.has(input)) type_ = call.value(input).type();
    tensors_.push_back(!call.has(input) ? Tensor()
                       : is_of_strings  ? numbered(call, call.text(input), strings_)
                                        : call.tensor(input));
  }
}

Value Elements::value(const Tensor& moved) const {
  if (strings_.empty()) return {moved, type_};
  Text text{moved.shape(), {}};
  for (const std::int64_t number : moved.to_vector<std::int64_t>())
    text.values.push_back(strings_[static_cast<std::size_t>(number)]);
  return text;
}

}  // namespace weft::onnx
