// Sequences and optionals: values that are no tensors.

#include <algorithm>

#include <fmt/format.h>

#include "tables.h"

namespace weft::onnx {
namespace {

Values construct(const Call& call) {
  Sequence sequence;
  for (std::size_t i = 0; i < call.inputs(); ++i) sequence.push_back(call.value(i));
  return {Value(std::move(sequence))};
}

// Of `count` places; negative ones count from the end.
std::size_t place(const Call& call, std::size_t input, std::size_t count, bool may_be_end) {
  const std::int64_t given = call.integer(input), size = static_cast<std::int64_t>(count);
  const std::int64_t at = given < 0 ? given + size : given;
  if (at < 0 || at > size || (at == size && !may_be_end))
    call.refuse(fmt::format("there is no place {} in a sequence of {}", given, count));
  return static_cast<std::size_t>(at);
}

Values insert(const Call& call) {
  Sequence sequence = call.sequence(0);
  const std::size_t at = call.has(2) ? place(call, 2, sequence.size(), true) : sequence.size();
  sequence.insert(sequence.begin() + static_cast<std::ptrdiff_t>(at), call.value(1));
  return {Value(std::move(sequence))};
}

Values erase(const Call& call) {
  Sequence sequence = call.sequence(0);
  if (sequence.empty()) call.refuse("the sequence is empty");
  const std::size_t at = call.has(1) ? place(call, 1, sequence.size(), false) : sequence.size() - 1;
  sequence.erase(sequence.begin() + static_cast<std::ptrdiff_t>(at));
  return {Value(std::move(sequence))};
}

Values at(const Call& call) {
  const Sequence& sequence = call.sequence(0);
  return {sequence[place(call, 1, sequence.size(), false)]};
}

Values length(const Call& call) {
  return {Value::known({static_cast<std::int64_t>(call.sequence(0).size())}, true)};
}

Tensor concatenated(const Call& call) {
  std::vector<Tensor> tensors;
  for (const Value& each : call.sequence(0)) tensors.push_back(each.tensor());
  if (tensors.empty()) call.refuse("the sequence is empty");
  const auto axis = call.attr<std::int64_t>("axis");
  return call.attr("new_axis", 0) != 0 ? Tensor::stack(tensors, axis) : Tensor::cat(tensors, axis);
}

Values split(const Call& call) {
  const Tensor input = call.tensor(0);
  const std::int64_t axis = call.attr("axis", 0);
  std::vector<Tensor> parts;
  if (!call.has(1)) {
    parts = input.split(1, axis);
    if (call.attr("keepdims", 1) == 0)
      for (Tensor& part : parts) part = part.squeeze(axis);
  } else if (call.tensor(1).ndim() == 0) {
    parts = input.split(call.integer(1), axis);
  } else {
    parts = input.split(call.ints(1), axis);
  }
  return {Value(Sequence(parts.begin(), parts.end()))};
}

Values optional(const Call& call) { return {call.value(0)}; }

Values has_element(const Call& call) {
  return {Value::known({std::int64_t{call.has(0)}}, true, dtypes::bool_)};
}

Values get_element(const Call& call) {
  if (!call.has(0)) call.refuse("the optional is empty");
  return {call.value(0)};
}

}  // namespace

OpTable sequence_ops() {
  static const Op ops[] = {
      {"ConcatFromSequence", 11, concatenated},
      {"Optional", 15, optional},
      {"OptionalGetElement", 15, get_element},
      {"OptionalHasElement", 15, has_element},
      {"SequenceAt", 11, at},
      {"SequenceConstruct", 11, construct},
      {"SequenceEmpty", 11, construct},
      {"SequenceErase", 11, erase},
      {"SequenceInsert", 11, insert},
      {"SequenceLength", 11, length},
      {"SplitToSequence", 11, split},
  };
  return {"", ops};
}

}  // namespace weft::onnx
