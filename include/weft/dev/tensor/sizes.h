// Arithmetic on sizes: numbers stay numbers, and what is symbolic becomes an expression.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/tensor_args.h>

namespace weft {

Dim plus(const Dim& size, std::int64_t more);
Dim minus(const Dim& a, const Dim& b);
Dim times(const Dim& size, std::int64_t factor);
Dim floordiv(const Dim& size, std::int64_t divisor);  // by at least 1
Dim product(const std::vector<Dim>& sizes);
// As one would write it: sizes that come about in several ways are the same then, and broadcast.
Dim simplified(const Dim& size);

std::int64_t least(const Dim& size);
std::int64_t most(const Dim& size);

}  // namespace weft
