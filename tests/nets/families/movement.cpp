// Steps that bring elements elsewhere.

#include <algorithm>
#include <numeric>

#include "../families.h"

namespace nets {
namespace {

// As many elements in other axes: factors of the sizes, joined anew.
Numbers reshaped(Draft& draft, const Array& x) {
  Random& random = draft.random;
  if (x.size() == 0) {
    Numbers shape = draft.any_shape(1, 3);
    shape[at(random.below(std::ssize(shape)))] = 0;
    return shape;
  }
  if (random.one_in(5)) return {static_cast<std::int64_t>(x.size())};
  if (random.one_in(3)) {  // joins two axes, or splits one
    Numbers shape = x.shape;
    if (shape.size() > 1 && random.one_in(2)) {
      const std::size_t i = at(random.below(x.rank() - 1));
      shape[i] *= shape[i + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return shape;
    }
  }
  std::int64_t left = static_cast<std::int64_t>(x.size());
  Numbers shape;
  while (left > 1 && shape.size() < 3) {
    Numbers divisors;
    for (std::int64_t d = 1; d <= left; ++d)
      if (left % d == 0) divisors.push_back(d);
    shape.push_back(random.of(divisors));
    left /= shape.back();
  }
  shape.push_back(left);
  return shape;
}

void draw_reshape(Draft& draft) {
  const std::size_t x = draft.any();
  draft.add({.kind = "reshape", .operands = {x}, .n = reshaped(draft, draft[x])});
}

void draw_permute(Draft& draft) {
  const auto x = draft.any([](const Array& a) { return a.rank() > 1; });
  want(x.has_value(), "too few axes");
  Numbers order(draft[*x].shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[at(draft.random.below(static_cast<std::int64_t>(i)))]);
  draft.add({.kind = "permute", .operands = {*x}, .n = order});
}

void draw_expand(Draft& draft) {
  std::size_t x = draft.any();
  if (std::ranges::find(draft[x].shape, 1) == draft[x].shape.end())
    x = draft.add(
        {.kind = "unsqueeze", .operands = {x}, .i = draft.random.below(draft[x].rank() + 1)});
  Numbers shape = draft[x].shape;
  for (std::int64_t& size : shape)
    if (size == 1 && !draft.random.one_in(3)) size = draft.any_size();
  draft.add({.kind = "expand", .operands = {x}, .n = shape});
}

void draw_shrink(Draft& draft) {
  const std::size_t x = draft.any();
  Numbers bounds;
  for (const std::int64_t size : draft[x].shape) {
    const std::int64_t start = draft.random.one_in(2) ? 0 : draft.random.below(size + 1);
    bounds.push_back(start);
    bounds.push_back(draft.random.one_in(2) ? size : draft.random.between(start, size));
  }
  draft.add({.kind = "shrink", .operands = {x}, .n = bounds});
}

void draw_flip(Draft& draft) {
  const std::size_t x = draft.any();
  draft.add({.kind = "flip", .operands = {x}, .n = draft.axes_of(draft[x])});
}

void draw_pad(Draft& draft) {
  const std::size_t x = draft.any();
  Numbers widths;
  for (std::int64_t i = 0; i < 2 * draft[x].rank(); ++i)
    widths.push_back(std::max<std::int64_t>(0, draft.random.between(-2, 2)));
  const Literal number = draft.random.one_in(2) ? Literal{} : draft.literal(draft[x].type);
  want(is_float(draft[x].type) || number.form != Literal::Form::Float, "a float in integers");
  draft.add({.kind = "pad", .operands = {x}, .n = widths, .number = number});
}

void draw_axis(Draft& draft) {
  const std::size_t x = draft.any();
  if (draft.random.one_in(2)) {
    draft.add({.kind = "unsqueeze", .operands = {x}, .i = draft.random.below(draft[x].rank() + 1)});
  } else {
    draft.add({.kind = "squeeze", .operands = {x}, .i = draft.axis_of(draft[x])});
  }
}

Part any_slice(Draft& draft, std::int64_t size) {
  Random& random = draft.random;
  Part part{.form = Part::Form::Slice, .list = {}};
  if (!random.one_in(3)) part.start = random.between(-size, size);
  if (!random.one_in(3)) part.stop = random.between(-size, size + 1);
  if (random.one_in(3)) part.step = random.of(Numbers{2, -1, 3, -2, 1});
  return part;
}

std::vector<Part> any_parts(Draft& draft, const Array& x) {
  Random& random = draft.random;
  std::vector<Part> parts;
  for (const std::int64_t size : x.shape) {
    if (random.one_in(4)) break;
    if (random.one_in(8)) parts.push_back({.form = Part::Form::NewAxis, .list = {}});
    if (random.one_in(3) && size > 0)
      parts.push_back(
          {.form = Part::Form::At, .number = random.between(-size, size - 1), .list = {}});
    else
      parts.push_back(any_slice(draft, size));
  }
  if (random.one_in(6)) parts.insert(parts.begin(), {.form = Part::Form::Ellipsis, .list = {}});
  return parts;
}

void draw_index(Draft& draft) {
  const std::size_t x = draft.any();
  const std::vector<Part> parts = any_parts(draft, draft[x]);
  want(!parts.empty(), "no index");
  draft.add({.kind = "index", .operands = {x}, .index = parts});
}

void draw_repeat(Draft& draft) {
  const std::size_t x = draft.any();
  if (draft.random.one_in(2)) {
    draft.add({.kind = "repeat_interleave",
               .operands = {x},
               .i = draft.axis_of(draft[x]),
               .j = draft.random.between(1, 3)});
    return;
  }
  Numbers times;
  for (std::int64_t i = 0; i < draft[x].rank() + draft.random.below(2); ++i)
    times.push_back(draft.random.between(1, 2));
  want(!times.empty(), "no axes");
  draft.add({.kind = "repeat", .operands = {x}, .n = times});
}

void draw_roll(Draft& draft) {
  const std::size_t x = draft.any();
  draft.add({.kind = "roll",
             .operands = {x},
             .i = draft.axis_of(draft[x]),
             .j = draft.random.between(-4, 4)});
}

void draw_windows(Draft& draft) {
  const std::size_t x = draft.any();
  const std::int64_t axis = draft.axis_of(draft[x]);
  draft.add({.kind = "unfold",
             .operands = {x},
             .i = axis,
             .j = draft.random.between(1, 3),
             .k = draft.random.between(1, 3)});
}

void draw_matrix(Draft& draft) {
  const auto x = draft.any([](const Array& a) { return a.rank() > 1; });
  want(x.has_value(), "no matrix");
  const char* kind = draft.random.of(std::vector{"diagonal", "triu", "tril"});
  draft.add({.kind = kind, .operands = {*x}, .i = draft.random.between(-2, 2)});
}

void draw_cat(Draft& draft) {
  Random& random = draft.random;
  const std::size_t x = draft.any();
  const bool is_stack = random.one_in(3);
  std::vector<std::size_t> all{x};
  const std::int64_t axis = is_stack ? random.below(draft[x].rank() + 1)
                                     : axis_in(draft.axis_of(draft[x]), draft[x].rank());
  for (std::int64_t count = random.between(1, 3); count > 0; --count) {
    const auto other = draft.any([&](const Array& y) {
      if (draft.is_smooth() && !is_float(y.type)) return false;
      if (y.rank() != draft[x].rank()) return false;
      for (std::int64_t a = 0; a < y.rank(); ++a)
        if ((is_stack || a != axis) && y.shape[at(a)] != draft[x].shape[at(a)]) return false;
      return true;
    });
    want(other.has_value(), "nothing to join");
    all.push_back(*other);
  }
  std::swap(all.front(), all[at(random.below(std::ssize(all)))]);
  draft.add({.kind = is_stack ? "stack" : "cat", .operands = all, .i = axis});
}

void draw_memory(Draft& draft) {
  const char* kind = draft.random.of(std::vector{"contiguous", "clone", "contiguous"});
  draft.add({.kind = kind, .operands = {draft.any()}});
}

void draw_constant(Draft& draft) {
  const Type type = draft.any_type();
  if (draft.random.one_in(2) && !is_bool(type)) {
    const std::int64_t by = draft.random.of(Numbers{1, 1, 2, -1}),
                       start = is_unsigned(type) ? 0 : draft.random.between(-3, 3);
    want(by > 0 || !is_unsigned(type), "below 0");
    draft.add(
        {.kind = "arange", .i = start, .j = start + by * draft.any_size(), .k = by, .type = type});
    return;
  }
  const Literal number = draft.literal(type);
  want(is_float(type) || number.form != Literal::Form::Float, "a float in integers");
  want(!is_bool(type) || (number.whole == 0 || number.whole == 1), "a number in bools");
  draft.add({.kind = "full", .n = draft.any_shape(), .type = type, .number = number});
}

void draw_input(Draft& draft) {
  // Of the shape of another, so that they meet; or of the very same values.
  if (draft.random.one_in(3))
    draft.input(draft.any_type(), draft.any_shape());
  else
    draft.input(draft.any_type(), draft.broadcasting(draft[draft.any()].shape));
}

}  // namespace

std::vector<Family> movement_families() {
  return {{5, draw_reshape, true}, {4, draw_permute, true}, {5, draw_expand, true},
          {4, draw_shrink, true},  {3, draw_flip, true},    {4, draw_pad, true},
          {2, draw_axis, true},    {7, draw_index, true},   {2, draw_repeat, true},
          {2, draw_roll, true},    {2, draw_windows, true}, {3, draw_matrix, true},
          {4, draw_cat, true},     {3, draw_memory, true},  {3, draw_constant, false},
          {2, draw_input, true}};
}

}  // namespace nets
