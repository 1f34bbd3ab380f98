// The axes of an inner view are the digits of an outer view's places: in row-major order, place p
// has index p / weight % size along an axis. Two views compose into one if every relevant digit is
// affine in the outer indices and the masks leave a box of these indices.

#include "compose.h"

#include <algorithm>

namespace weft {
namespace {

using Extents = std::vector<View::Extent>;

constexpr std::int64_t most_places = std::int64_t{1} << 16;

std::int64_t length(const View::Extent& extent) { return extent.last - extent.first; }

bool is_empty(const Extents& extents) {
  return std::ranges::any_of(extents, [](const auto& extent) { return length(extent) <= 0; });
}

View zeros(const std::vector<std::int64_t>& shape) {
  return {shape, std::vector<std::int64_t>(shape.size()), 0, Extents(shape.size(), {0, 0})};
}

// A scalar has no axis whose mask could be empty.
std::optional<View> all_zero(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? std::nullopt : std::optional(zeros(shape));
}

struct Digit {
  std::int64_t size, weight, stride;
  View::Extent valid;
};

// Returns the digits of a view, innermost first. Neighbouring axes are merged if a single index
// over both reaches the same places. If the outer one of them has only one valid index, the offset
// is corrected by what that index adds to the merged one.
std::vector<Digit> digits_of(const View& view, std::int64_t& offset) {
  std::vector<Digit> digits;
  std::int64_t weight = 1;
  for (std::size_t axis = view.shape.size(); axis-- > 0;) {
    const Digit next{view.shape[axis], weight, view.strides[axis], view.mask[axis]};
    if (next.size == 1) continue;
    weight *= next.size;
    if (!digits.empty()) {
      auto& [size, low_weight, stride, valid] = digits.back();
      const bool whole = valid == View::Extent{0, size}, single = length(next.valid) == 1;
      if (single || (whole && next.stride == stride * size)) {
        const std::int64_t before = next.valid.first * size;
        if (single) offset = wrapping_mul_add(offset, -stride, before);
        valid = single ? View::Extent{before + valid.first, before + valid.last}
                       : View::Extent{before, next.valid.last * size};
        size *= next.size;
        continue;
      }
    }
    digits.push_back(next);
  }
  return digits;
}

// An affine function on a box: first + the sum of by[k] * (ik - box[k].first).
struct Affine {
  std::int64_t first;
  std::vector<std::int64_t> by;

  Interval range(const Extents& box) const {
    Interval all{first, first};
    for (std::size_t k = 0; k < by.size(); ++k) {
      const Wide most = Wide{by[k]} * (length(box[k]) - 1);
      (by[k] < 0 ? all.lo : all.hi) += most;
    }
    return all;
  }
};

bool is_within(const Interval& range, std::int64_t first, std::int64_t last) {
  return first <= range.lo && range.hi < last;
}

// Returns a digit of the outer view's places as a function on the box, if it is affine there. The
// remainder below the digit is then affine as well, because it wraps around only when the digit
// changes. Both are extrapolated from the steps at the first corner of the box; they are affine if
// neither leaves its range.
std::optional<Affine> affine_digit(const Digit& digit, const View& outer, const Extents& box) {
  std::int64_t corner = outer.offset;
  for (std::size_t k = 0; k < box.size(); ++k)
    corner = wrapping_mul_add(corner, outer.strides[k], box[k].first);
  const auto split = [&](std::int64_t place) {
    return std::pair{place / digit.weight % digit.size, place % digit.weight};
  };
  const auto [first, first_rest] = split(corner);
  Affine high{first, {}}, low{first_rest, {}};
  for (std::size_t k = 0; k < box.size(); ++k) {
    const bool moves = length(box[k]) > 1;
    const auto [next, rest] = split(moves ? corner + outer.strides[k] : corner);
    high.by.push_back(next - first);
    low.by.push_back(rest - first_rest);
  }
  if (!is_within(high.range(box), 0, digit.size) || !is_within(low.range(box), 0, digit.weight))
    return std::nullopt;
  return high;
}

// Removes from each axis of the box the indices for which the function is invalid regardless of the
// other indices. Returns whether there were any.
bool narrow_box(Extents& box, const Affine& function, const View::Extent& valid) {
  const Interval all = function.range(box);
  Extents narrowed = box;
  for (std::size_t k = 0; k < box.size(); ++k) {
    const Wide by = function.by[k];
    if (by == 0) continue;
    // A valid index is at least `skip` and at most `most` steps away from the end of the axis at
    // which the function is least.
    const Wide width = by < 0 ? -by : by, last = length(box[k]) - 1, own = width * last;
    const Wide skip = -floor_div<Wide>(all.hi - own - valid.first, width);
    const Wide most = floor_div<Wide>(valid.last - 1 - all.lo, width);
    if (skip > last || most < 0) {
      box[k] = {0, 0};
      return true;
    }
    const auto front = static_cast<std::int64_t>(std::max<Wide>(skip, 0));
    const auto back = static_cast<std::int64_t>(std::max<Wide>(last - most, 0));
    narrowed[k].first += by < 0 ? back : front;
    narrowed[k].last -= by < 0 ? front : back;
  }
  const bool changed = narrowed != box;
  box = std::move(narrowed);
  return changed;
}

// Returns a box of outer indices that contains all those for which the inner masks hold. It is
// narrowed one axis at a time.
Extents valid_box(const std::vector<Digit>& digits, const View& outer) {
  // A narrower box may allow the next round to narrow it further. The limit is needed because two
  // masks could otherwise alternate in removing a single index each.
  constexpr int most_rounds = 16;
  Extents box = outer.mask;
  bool narrowed = true;
  for (int round = 0; narrowed && round < most_rounds; ++round) {
    narrowed = false;
    for (const Digit& digit : digits) {
      if (is_empty(box)) return box;
      if (const auto function = affine_digit(digit, outer, box))
        narrowed = narrow_box(box, *function, digit.valid) || narrowed;
    }
  }
  return box;
}

}  // namespace

View canonical(View view) {
  if (is_empty(view.mask)) return zeros(view.shape);
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    if (length(view.mask[axis]) > 1) continue;
    view.offset = wrapping_mul_add(view.offset, view.strides[axis], view.mask[axis].first);
    view.strides[axis] = 0;
  }
  return view;
}

std::optional<View> compose(const View& inner, const View& outer) {
  if (is_empty(inner.mask)) return all_zero(outer.shape);
  View result{outer.shape, std::vector<std::int64_t>(outer.shape.size()), inner.offset, {}};
  const std::vector<Digit> digits = digits_of(inner, result.offset);
  result.mask = valid_box(digits, outer);
  if (is_empty(result.mask)) return all_zero(outer.shape);
  for (const Digit& digit : digits) {
    if (digit.stride == 0 && digit.valid == View::Extent{0, digit.size}) continue;
    const auto function = affine_digit(digit, outer, result.mask);
    if (!function || !is_within(function->range(result.mask), digit.valid.first, digit.valid.last))
      return std::nullopt;
    result.offset = wrapping_mul_add(result.offset, digit.stride, function->first);
    for (std::size_t k = 0; k < result.shape.size(); ++k) {
      const std::int64_t by = wrapping_mul_add(0, digit.stride, function->by[k]);
      result.strides[k] = wrapping_mul_add(result.strides[k], by, 1);
      result.offset = wrapping_mul_add(result.offset, by, -result.mask[k].first);
    }
  }
  return canonical(std::move(result));
}

std::optional<View> compose_by_enumeration(std::span<const View> views) {
  const View& outer = views.back();
  Extents all, box;
  Wide count = 1;
  for (std::int64_t size : outer.shape) {
    all.push_back({0, size});
    count *= size;
    if (count > most_places) return std::nullopt;
  }
  const auto place = [&](std::vector<std::int64_t> at) { return place_of(views, std::move(at)); };
  for_each_index(all, [&](const std::vector<std::int64_t>& at) {
    if (!place(at)) return true;
    if (box.empty())
      for (std::int64_t index : at) box.push_back({index, index + 1});
    for (std::size_t k = 0; k < at.size(); ++k)
      box[k] = {std::min(box[k].first, at[k]), std::max(box[k].last, at[k] + 1)};
    return true;
  });
  std::vector<std::int64_t> corner;
  for (const View::Extent& extent : box) corner.push_back(extent.first);
  const auto first = corner.size() == outer.shape.size() ? place(corner) : std::nullopt;
  if (!first) return box.empty() ? all_zero(outer.shape) : std::nullopt;
  View result{outer.shape, std::vector<std::int64_t>(corner.size()), *first, box};
  for (std::size_t k = 0; k < corner.size(); ++k) {
    if (length(box[k]) == 1) continue;
    std::vector<std::int64_t> at = corner;
    ++at[k];
    const auto next = place(at);
    if (!next) return std::nullopt;
    result.strides[k] = *next - *first;
    result.offset = wrapping_mul_add(result.offset, -result.strides[k], corner[k]);
  }
  const bool same =
      for_each_index(all, [&](const auto& at) { return result.place(at) == place(at); });
  return same ? std::optional(result) : std::nullopt;
}

}  // namespace weft
