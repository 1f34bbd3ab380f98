// More steps that bring elements elsewhere: by other names, in parts, joined.

#include <algorithm>

#include "../families.h"

namespace nets {
namespace {

using Names = std::vector<std::string>;

std::size_t of_rank(Draft& draft, std::int64_t least, std::int64_t most = 9) {
  const auto x = draft.any([&](const Array& a) {
    return a.rank() >= least && a.rank() <= most && (!draft.is_smooth() || is_float(a.type));
  });
  want(x.has_value(), "other axes");
  return *x;
}

void draw_axes(Draft& draft) {
  static const Names kinds{"movedim", "moveaxis", "swapaxes", "transpose", "T",
                           "mT",      "rot90",    "fliplr",   "flipud",    "diagonal_axes"};
  const std::string kind = draft.random.of(kinds);
  const std::size_t x = of_rank(draft, 2);
  Step step{
      .kind = kind, .operands = {x}, .i = draft.axis_of(draft[x]), .j = draft.axis_of(draft[x])};
  if (kind == "rot90") step.k = draft.random.between(-2, 4);
  if (kind == "diagonal_axes")
    step.k = step.j, step.j = step.i, step.i = draft.random.between(-2, 2);
  draft.add(step);
}

void draw_shape(Draft& draft) {
  static const Names kinds{"flatten",      "flatten",    "ravel",      "unflatten",  "open_reshape",
                           "open_reshape", "atleast_1d", "atleast_2d", "atleast_3d", "squeeze_all"};
  Random& random = draft.random;
  const std::string kind = random.of(kinds);
  const std::size_t x = of_rank(draft, 1);
  const Array& a = draft[x];
  Step step{.kind = kind, .operands = {x}};
  if (kind == "flatten") {
    step.i = random.below(a.rank());
    step.j = random.one_in(2) ? -1 : random.between(step.i, a.rank() - 1);
  } else if (kind == "unflatten") {
    step.i = draft.axis_of(a);
    const std::int64_t size = size_along(a, step.i), by = random.between(1, 3);
    want(size % by == 0, "other sizes");
    step.n = random.one_in(2) ? Numbers{by, size / by} : Numbers{size / by, by};
  } else if (kind == "open_reshape") {
    const std::int64_t by = random.between(1, 4);
    step.n = random.one_in(3) ? Numbers{-1} : random.one_in(2) ? Numbers{-1, by} : Numbers{by, -1};
  }
  draft.add(step);
}

// Where an axis is cut, one part is taken or two.
void draw_part(Draft& draft) {
  static const Names kinds{"unbind", "split", "split",       "split_sizes",
                           "chunk",  "chunk", "tensor_split"};
  Random& random = draft.random;
  const std::size_t x = of_rank(draft, 1);
  Step step{.kind = random.of(kinds), .operands = {x}, .i = draft.axis_of(draft[x])};
  const std::int64_t size = size_along(draft[x], step.i);
  want(size > 0, "parts of nothing");
  std::int64_t count = size;
  if (step.kind == "split_sizes") {
    const std::int64_t first = random.between(0, size);
    step.n = {first, size - first};
    count = 2;
  } else if (step.kind != "unbind") {
    step.j = random.between(1, 3);
    const std::int64_t of_chunk = (size + step.j - 1) / step.j;
    count = step.kind == "split"   ? (size + step.j - 1) / step.j
            : step.kind == "chunk" ? (size + of_chunk - 1) / of_chunk
                                   : step.j;
  }
  for (std::int64_t parts = random.between(1, 2); parts > 0; --parts) {
    step.k = random.below(count);
    draft.add(step);
  }
}

void draw_narrow(Draft& draft) {
  const std::size_t x = of_rank(draft, 1);
  const std::int64_t axis = draft.axis_of(draft[x]), size = size_along(draft[x], axis);
  if (draft.random.one_in(2)) {
    want(size > 0, "an index of nothing");
    draft.add(
        {.kind = "select", .operands = {x}, .i = axis, .j = draft.random.between(-size, size - 1)});
    return;
  }
  const std::int64_t start = draft.random.between(0, size);
  draft.add({.kind = "narrow",
             .operands = {x},
             .i = axis,
             .j = start,
             .k = draft.random.between(0, size - start)});
}

void draw_repeats(Draft& draft) {
  static const Names kinds{"tile", "tile", "roll_flat", "roll_axes", "repeat_interleave_flat"};
  Random& random = draft.random;
  const std::string kind = random.of(kinds);
  const std::size_t x = of_rank(draft, kind == "roll_axes" ? 2 : 0);
  Step step{.kind = kind, .operands = {x}, .i = random.between(-3, 3), .j = random.between(1, 3)};
  if (kind == "tile")
    for (std::int64_t count = random.between(1, 3); count > 0; --count)
      step.n.push_back(random.between(1, 2));
  draft.add(step);
}

void draw_diff(Draft& draft) {
  const std::size_t x = of_rank(draft, 1);
  const std::int64_t axis = draft.axis_of(draft[x]);
  if (draft.random.one_in(3)) {
    Numbers shape = draft[x].shape;
    shape[at(axis_in(axis, draft[x].rank()))] = 1;
    const std::size_t before = draft.input(draft[x].type, shape);
    draft.add({.kind = "diff_prepend", .operands = {x, before}, .i = axis});
    return;
  }
  draft.add({.kind = "diff", .operands = {x}, .i = axis, .k = draft.random.between(1, 2)});
}

void draw_diagonal(Draft& draft) {
  static const Names kinds{"trace", "diag", "diag", "diag_embed", "diagflat"};
  const std::string kind = draft.random.of(kinds);
  const std::size_t x = kind == "trace"  ? of_rank(draft, 2, 2)
                        : kind == "diag" ? of_rank(draft, 1, 2)
                                         : of_rank(draft, 1, 3);
  draft.add({.kind = kind, .operands = {x}, .i = draft.random.between(-2, 2)});
}

void draw_pad_from_inside(Draft& draft) {
  static const Names kinds{"pad_reflect", "pad_replicate", "pad_circular"};
  const std::size_t x = of_rank(draft, 1);
  Numbers widths;
  for (std::int64_t i = 0; i < 2 * draft[x].rank(); ++i)
    widths.push_back(std::max<std::int64_t>(0, draft.random.between(-2, 2)));
  draft.add({.kind = draft.random.of(kinds), .operands = {x}, .n = widths});
}

void draw_pad_or_cut(Draft& draft) {
  const std::size_t x = of_rank(draft, 1);
  Numbers widths;
  for (std::int64_t i = 0; i < 2 * draft[x].rank(); ++i)
    widths.push_back(draft.random.one_in(2) ? 0 : draft.random.between(-2, 2));
  draft.add({.kind = "pad_or_cut",
             .operands = {x},
             .n = widths,
             .number = draft.held_literal(draft[x].type)});
}

void draw_outer(Draft& draft) {
  const bool is_outer = draft.random.one_in(2);
  const std::size_t x = of_rank(draft, 1, is_outer ? 1 : 2);
  Numbers shape{draft.random.between(1, 4)};
  if (draft[x].rank() == 2) shape.push_back(draft.random.between(1, 3));
  auto y = draft.any([&](const Array& a) {
    return a.rank() == draft[x].rank() && (!draft.is_smooth() || is_float(a.type));
  });
  if (!y || draft.random.one_in(2)) y = draft.input(draft.any_type(), shape);
  draft.add({.kind = is_outer ? "outer" : "kron", .operands = {x, *y}});
}

// Vectors of any lengths, or matrices.
void draw_joined(Draft& draft) {
  static const Names of_vectors{"meshgrid", "meshgrid_xy", "cartesian_prod", "meshgrid"};
  Random& random = draft.random;
  if (random.one_in(3)) {
    const std::size_t x = of_rank(draft, 2, 2);
    const std::size_t y =
        random.one_in(2) ? of_rank(draft, 2, 2)
                         : draft.input(draft[x].type, {random.between(1, 3), random.between(1, 3)});
    draft.add({.kind = "block_diag", .operands = {x, y}});
    return;
  }
  const std::string kind = random.of(of_vectors);
  const std::size_t x = of_rank(draft, 1, 1);
  std::vector<std::size_t> all{x};
  for (std::int64_t more = random.between(1, 2); more > 0; --more)
    all.push_back(draft.input(draft[x].type, {random.between(1, 4)}));
  draft.add({.kind = kind, .operands = all, .k = random.below(std::ssize(all))});
}

void draw_stacked(Draft& draft) {
  static const Names kinds{"hstack", "vstack", "dstack", "column_stack"};
  const std::size_t x = of_rank(draft, 1);
  std::vector<std::size_t> all{x};
  for (std::int64_t more = draft.random.between(1, 2); more > 0; --more) {
    const auto y = draft.any([&](const Array& a) {
      return a.shape == draft[x].shape && (!draft.is_smooth() || is_float(a.type));
    });
    all.push_back(*y);
  }
  draft.add({.kind = draft.random.of(kinds), .operands = all});
}

void draw_vander(Draft& draft) {
  const std::size_t x = of_rank(draft, 1, 1);
  want(!is_bool(draft[x].type), "bools");
  draft.add({.kind = "vander",
             .operands = {x},
             .k = draft.random.between(1, 4),
             .flag = draft.random.one_in(2)});
}

}  // namespace

std::vector<Family> shape_families() {
  return {{4, draw_axes, true},     {4, draw_shape, true},           {5, draw_part, true},
          {3, draw_narrow, true},   {2, draw_repeats, true},         {2, draw_diff, true},
          {3, draw_diagonal, true}, {3, draw_pad_from_inside, true}, {2, draw_pad_or_cut, true},
          {2, draw_outer, true},    {3, draw_joined, true},          {2, draw_stacked, true},
          {1, draw_vander, true}};
}

}  // namespace nets
