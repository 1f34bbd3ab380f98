// Statistics, searches and counts along axes.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "array.h"

namespace nets {

// The element at one place of the sorted ones along an axis: "median", "nanmedian", "kthvalue" (from 1), "mode".
Array ranked(std::string_view name, const Array& x, std::int64_t axis, bool keepdim,
             std::int64_t k = 0);
enum class Between : std::uint8_t { Linear, Lower, Higher, Nearest, Midpoint };
Array quantile(const Array& x, double q, std::int64_t axis, bool keepdim, Between between,
               bool skips_nan);
Array nansum(const Array& x, const Numbers& axes, bool keepdim);
Array nanmean(const Array& x, const Numbers& axes, bool keepdim);
Array norm(const Array& x, double p, const Numbers& axes, bool keepdim);
Array cdist(const Array& x, const Array& y, double p);
Array normalize(const Array& x, double p, const Numbers& axes);
Array logcumsumexp(const Array& x, std::int64_t axis);
// The last place of the largest element so far, as i32.
Array cummax_places(const Array& x, std::int64_t axis);
// The different elements in order, and how often they occur, as i32.
std::pair<Array, Array> unique(const Array& x);
// In front of which element of the sorted vector each value belongs.
Array searchsorted(const Array& sorted, const Array& values, bool right);
Array bincount(const Array& x, const Array* weights, std::int64_t least_length);
Array histc(const Array& x, std::int64_t bins, double least, double most);

}  // namespace nets
