// Products of arrays beyond matmul.
#pragma once

#include <string_view>

#include "array.h"

namespace nets {

Array einsum(std::string_view equation, const std::vector<Array>& operands);
Array tensordot(const Array& x, const Array& y, std::int64_t axes);
Array inner(const Array& x, const Array& y);
// beta * x + alpha * product
Array added(const Array& x, const Array& product, double beta, double alpha);
Array cross(const Array& x, const Array& y, std::int64_t axis);
// query (batch, queries, width), key and value (batch, keys, width).
Array attention(const Array& query, const Array& key, const Array& value, bool is_causal);

}  // namespace nets
