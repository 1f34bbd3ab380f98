#include <weft/dev/schedule/views.h>

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/error.h>

#include "compose.h"

namespace weft {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers numbers_of(NodeList sizes) {
  Numbers numbers;
  for (const Node* size : sizes) {
    if (!size->is_const()) user_error("views: a size is symbolic, and strides would be as well");
    numbers.push_back(size->lo());
  }
  return numbers;
}

void permute(View& view, const Numbers& axes) {
  const View from = view;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    view.shape[i] = from.shape[axis];
    view.strides[i] = from.strides[axis];
    view.mask[i] = from.mask[axis];
  }
}

void expand(View& view, const Numbers& shape) {
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (view.shape[i] == 1 && shape[i] != 1 && view.mask[i].last == 1) view.mask[i].last = shape[i];
  view.shape = shape;
}

void flip(View& view, const Numbers& axes) {
  for (std::int64_t number : axes) {
    const auto i = static_cast<std::size_t>(number);
    view.offset = wrapping_mul_add(view.offset, view.strides[i], view.shape[i] - 1);
    view.strides[i] = -view.strides[i];
    view.mask[i] = {view.shape[i] - view.mask[i].last, view.shape[i] - view.mask[i].first};
  }
}

// Applies a PAD or SHRINK: element i is the former element start + i. A PAD has a negative start.
void move(View& view, const Numbers& start, const Numbers& shape) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    auto& [first, last] = view.mask[i];
    first = std::clamp<std::int64_t>(first - start[i], 0, shape[i]);
    last = std::clamp<std::int64_t>(last - start[i], 0, shape[i]);
    view.offset = wrapping_mul_add(view.offset, view.strides[i], start[i]);
  }
  view.shape = shape;
}

Numbers negative(Numbers numbers) {
  for (std::int64_t& number : numbers) number = -number;
  return numbers;
}

// Composes the last two views of the list into one as often as possible.
void join(std::vector<View>& list) {
  while (list.size() > 1) {
    const auto both = compose(list[list.size() - 2], list.back());
    if (!both) return;
    list.pop_back();
    list.back() = *both;
  }
}

// Applies a movement op to the last view. A RESHAPE adds a row-major view of it.
void apply(std::vector<View>& list, const Node* node) {
  const Numbers shape = numbers_of(node->dims());
  View& view = list.back();
  switch (node->op()) {
    case Op::Permute: permute(view, node->arg<AxesArg>().axes.get()); break;
    case Op::Expand: expand(view, shape); break;
    case Op::Flip: flip(view, node->arg<AxesArg>().axes.get()); break;
    case Op::Pad: move(view, negative(numbers_of(node->src(1)->src())), shape); break;
    case Op::Shrink: move(view, numbers_of(node->src(1)->src()), shape); break;
    default: list.push_back(View::row_major(shape));
  }
  list.back() = canonical(std::move(list.back()));
  join(list);
}

}  // namespace

View View::row_major(std::vector<std::int64_t> shape) {
  View view{std::move(shape), {}, 0, {}};
  std::int64_t stride = 1;
  for (std::size_t i = view.shape.size(); i-- > 0;) {
    view.strides.insert(view.strides.begin(), stride);
    view.mask.insert(view.mask.begin(), {0, view.shape[i]});
    if (__builtin_mul_overflow(stride, view.shape[i], &stride))
      user_error(fmt::format("views: shape ({}) has more than 2^63 elements",
                             fmt::join(view.shape, ", ")));
  }
  return canonical(std::move(view));
}

bool View::is_masked() const {
  bool masked = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return false;
    masked = masked || mask[i] != Extent{0, shape[i]};
  }
  return masked;
}

std::optional<std::int64_t> View::place(std::vector<std::int64_t> at) const {
  return place_of({this, 1}, std::move(at));
}

std::optional<std::int64_t> Views::place(std::vector<std::int64_t> at) const {
  return place_of(list, std::move(at));
}

std::optional<std::int64_t> place_of(std::span<const View> views, std::vector<std::int64_t> at) {
  std::int64_t place = 0;
  for (std::size_t n = views.size(); n-- > 0;) {
    const View& view = views[n];
    place = view.offset;
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (at[i] < view.mask[i].first || at[i] >= view.mask[i].last) return std::nullopt;
      place = wrapping_mul_add(place, view.strides[i], at[i]);
    }
    if (n == 0) break;
    at.assign(views[n - 1].shape.size(), 0);
    std::int64_t rest = place;
    for (std::size_t i = at.size(); i-- > 0; rest /= views[n - 1].shape[i])
      at[i] = rest % views[n - 1].shape[i];
  }
  return place;
}

std::string View::str() const {
  std::string text = fmt::format("shape ({}), strides ({}), offset {}", fmt::join(shape, ", "),
                                 fmt::join(strides, ", "), offset);
  if (!is_masked()) return text;
  std::vector<std::string> extents;
  for (const auto& [first, last] : mask) extents.push_back(fmt::format("{}..{}", first, last));
  return fmt::format("{}, mask ({})", text, fmt::join(extents, ", "));
}

std::string Views::str() const {
  std::string text;
  for (const View& view : list) text += (text.empty() ? "" : "\n") + view.str();
  return text;
}

std::ostream& operator<<(std::ostream& out, const Views& views) { return out << views.str(); }

Views views_of(const UOp& tensor) {
  std::vector<const Node*> chain;
  const Node* node = tensor.node();
  for (; info(node->op()).cls == OpClass::Movement; node = node->src(0)) chain.push_back(node);
  Views views{UOp(node), {View::row_major(numbers_of(node->dims()))}};
  while (!chain.empty()) {
    apply(views.list, chain.back());
    chain.pop_back();
  }
  if (!views.is_one())
    if (auto one = compose_by_enumeration(views.list)) views.list = {std::move(*one)};
  return views;
}

}  // namespace weft
