// What several operators are given: axes, numbers, places.

#include "arguments.h"

namespace weft::onnx {

std::vector<std::int64_t> axes_of(const Call& call, std::vector<std::int64_t> axes,
                                  std::int64_t rank) {
  for (std::int64_t& axis : axes) axis = axis_of(call, axis, rank);
  return axes;
}

std::optional<std::vector<std::int64_t>> ints_of(const Call& call, std::string_view attribute,
                                                 std::size_t input) {
  if (call.has(attribute)) return call.attr<std::vector<std::int64_t>>(attribute);
  if (call.has(input)) return call.ints(input);
  return {};
}

Tensor from_front(const Tensor& places, const Dim& size) {
  const Tensor wide = places.cast(dtypes::i64);
  return (wide < 0).where(wide + operand(size), wide);
}

Dim size_of(const Tensor& tensor, std::int64_t axis) {
  return tensor.dims().at(static_cast<std::size_t>(axis));
}

Operand operand(const Dim& size) { return {size.uop(), Symbol(), false}; }

}  // namespace weft::onnx
