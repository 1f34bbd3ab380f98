// What is computed for each element by itself.
#pragma once

#include <string_view>

#include "array.h"

namespace nets {

// By the names of Tensor's methods: "neg", "exp", "relu" ...
Array unary(std::string_view name, const Array& x);
// "add", "floordiv", "lt", "maximum", "lshift" ...; operands are brought together first.
Array binary(std::string_view name, const Array& x, const Array& y);
// The same of cells of one type, for reductions and scans. The result has that type, or is a bool.
Cell combined(std::string_view name, const Cell& a, const Cell& b, Type type);
Array where(const Array& condition, const Array& yes, const Array& no);
// -1, 0, 1, or nothing where the errors leave it open. NaN is the largest.
std::optional<int> order_of(const Cell& a, const Cell& b, Type type);

}  // namespace nets
