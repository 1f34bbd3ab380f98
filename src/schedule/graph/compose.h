// Two views as one.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <weft/dev/schedule/views.h>

namespace weft {

// a + b*c modulo 2^64: what cancels in the end may be any size on the way.
inline std::int64_t plus_product(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) +
                                   static_cast<std::uint64_t>(b) * static_cast<std::uint64_t>(c));
}

// Where the last view's element is in what the first looks at; nothing for those that are 0.
std::optional<std::int64_t> place_of(std::span<const View> views, std::vector<std::int64_t> at);
// Takes care that equal maps are equal views.
View canonical(View view);
// The view `outer` of the view `inner`, as far as arithmetic on the digits of its places shows that it
// is one.
std::optional<View> compose(const View& inner, const View& outer);
// The same for any number of views, inner ones first, by looking at every place: exact, but nothing
// where there are more than 2^16 of them.
std::optional<View> compose_by_places(std::span<const View> views);

// Calls f with every index within the extents, in row-major order, until it returns false. False if
// it did.
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
