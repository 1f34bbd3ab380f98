// What several operators are given: axes, numbers, places.
#pragma once

#include <optional>

#include "axes.h"
#include "tables.h"

namespace weft::onnx {

std::vector<std::int64_t> axes_of(const Call& call, std::vector<std::int64_t> axes,
                                  std::int64_t rank);
// What old opsets have as an attribute and new ones as an input; nothing where neither is there.
std::optional<std::vector<std::int64_t>> ints_of(const Call& call, std::string_view attribute,
                                                 std::size_t input);
// Places that count from the end where they are negative, as places from the front.
Tensor from_front(const Tensor& places, const Dim& size);
Dim size_of(const Tensor& tensor, std::int64_t axis);  // may be symbolic
// A size to compute with.
Operand operand(const Dim& size);

}  // namespace weft::onnx
