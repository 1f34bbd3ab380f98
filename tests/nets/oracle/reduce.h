// Reductions, scans and orders along axes.
#pragma once

#include <string_view>
#include <utility>

#include "array.h"

namespace nets {

// "sum", "prod", "max", "min", "any", "all", "mean", "var", "logsumexp".
Array reduced(std::string_view name, const Array& x, const Numbers& axes, bool keepdim,
              std::int64_t correction = 1);
// The first place of the extreme along an axis: "argmax", "argmin".
Array extreme_place(std::string_view name, const Array& x, std::int64_t axis, bool keepdim);
// "cumsum", "cumprod", "cummax", "cummin".
Array scanned(std::string_view name, const Array& x, std::int64_t axis);
Array softmax(const Array& x, std::int64_t axis, bool is_logarithm);
Array layernorm(const Array& x, const Numbers& axes, double eps);
// Values and places, as i32; equal ones keep their order, descending as well.
std::pair<Array, Array> sorted(const Array& x, std::int64_t axis, bool descending);

// A value inside of another function, which may be rounded or not: what has used up half of the digits counts as
// rounded.
Array as_inner(Array x);

// The sum of the cells in any order, in a type; exact where every order is.
Cell sum_of(const std::vector<Cell>& terms, Type type);

}  // namespace nets
