// Composes views: finds one view that is equivalent to several.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <weft/dev/schedule/views.h>

namespace weft {

// Returns a + b*c modulo 2^64. Terms that cancel in the end may overflow on the way.
inline std::int64_t wrapping_mul_add(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) +
                                   static_cast<std::uint64_t>(b) * static_cast<std::uint64_t>(c));
}

// Returns the position that element `at` of the last view has in what the first view reads, or
// nothing if a mask makes the element 0.
std::optional<std::int64_t> place_of(std::span<const View> views, std::vector<std::int64_t> at);
// Brings a view into a form in which equal maps are equal views.
View canonical(View view);
// Returns one view for `outer` applied to `inner`, if arithmetic on the digits of places can prove
// that there is one.
std::optional<View> compose(const View& inner, const View& outer);
// Composes any number of views, innermost first, by enumerating all places. The answer is exact,
// but more than 2^16 places give nothing.
std::optional<View> compose_by_enumeration(std::span<const View> views);

// Calls f with every index within the extents, in row-major order, until f returns false. Returns
// whether f never did.
template <class F>
bool for_each_index(const std::vector<View::Extent>& extents, F f) {
  std::vector<std::int64_t> at;
  for (const auto& [first, last] : extents) {
    if (first >= last) return true;
    at.push_back(first);
  }
  for (;;) {
    if (!f(std::as_const(at))) return false;
    std::size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == extents[axis - 1].last) {
      at[axis - 1] = extents[axis - 1].first;
      --axis;
    }
    if (axis == 0) return true;
  }
}

}  // namespace weft
