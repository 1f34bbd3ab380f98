// Matrix products, convolutions and pools.
#pragma once

#include "array.h"

namespace nets {

Array matmul(const Array& x, const Array& y);
// As many spatial axes as the weight (out, in / groups, sizes ...) has.
Array conv(const Array& x, const Array& weight, std::int64_t groups, std::int64_t stride,
           std::int64_t dilation, std::int64_t padding);
// Over the last axes. Padding is below all numbers.
Array max_pool(const Array& x, const Numbers& kernel, std::int64_t stride, std::int64_t padding);
Array avg_pool(const Array& x, const Numbers& kernel, std::int64_t stride, std::int64_t padding);

}  // namespace nets
