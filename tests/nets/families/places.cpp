// Steps that read and write whole slices, by masks and at flat places.

#include <algorithm>

#include "../families.h"

namespace nets {
namespace {

using Names = std::vector<std::string>;

std::size_t with_axes(Draft& draft, bool are_numbers = false) {
  const auto x = draft.any([&](const Array& a) {
    return a.rank() > 0 && !(are_numbers && is_bool(a.type)) &&
           (!draft.is_smooth() || is_float(a.type));
  });
  want(x.has_value(), "no axes");
  return *x;
}

void draw_slices(Draft& draft) {
  static const Names kinds{"index_select", "index_add", "index_copy", "index_fill", "index_select"};
  const std::string kind = draft.random.of(kinds);
  const std::size_t x = with_axes(draft, kind == "index_add");
  const std::int64_t axis = draft.axis_of(draft[x]), count = draft.random.between(1, 4);
  const std::size_t index = draft.places({count}, size_along(draft[x], axis), kind == "index_copy");
  Step step{.kind = kind,
            .operands = {x, index},
            .i = axis,
            .k = draft.random.one_in(2) ? 1 : 2,
            .number = draft.held_literal(draft[x].type)};
  if (kind == "index_add" || kind == "index_copy") {
    Numbers shape = draft[x].shape;
    shape[at(axis_in(axis, draft[x].rank()))] = count;
    step.operands.push_back(draft.input(draft[x].type, shape));
  }
  draft.add(step);
}

void draw_along(Draft& draft) {
  const std::size_t x = with_axes(draft);
  const std::int64_t axis = draft.axis_of(draft[x]);
  Numbers shape = draft[x].shape;
  const std::size_t along = at(axis_in(axis, draft[x].rank()));
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i == along)
      shape[i] = draft.random.between(1, 4);
    else if (draft.random.one_in(3))
      shape[i] = 1;
  const bool is_put = draft.random.one_in(2);
  const std::size_t index = draft.places(shape, size_along(draft[x], axis), is_put);
  Step step{
      .kind = is_put ? "put_along_axis" : "take_along_axis", .operands = {x, index}, .i = axis};
  if (is_put) step.operands.push_back(draft.input(draft[x].type, shape));
  draft.add(step);
}

void draw_flat(Draft& draft) {
  const std::size_t x = with_axes(draft, true);
  const std::int64_t count = draft.random.between(1, 4);
  const bool adds = draft.random.one_in(2);
  const std::size_t index = draft.places({count}, std::ssize(draft[x].places), !adds);
  const std::size_t source = draft.input(draft[x].type, {count});
  draft.add({.kind = "put", .operands = {x, index, source}, .flag = adds});
}

void draw_masked(Draft& draft) {
  static const Names kinds{"masked_scatter", "masked_select", "nonzero"};
  const std::string kind = draft.random.of(kinds);
  const std::size_t x = with_axes(draft);
  if (kind == "nonzero") {
    want(!draft.is_smooth(), "places");
    draft.add({.kind = kind,
               .operands = {x},
               .i = draft.random.between(-1, 0),
               .k = draft.random.between(1, 9)});
    return;
  }
  const std::size_t mask = draft.input(Type::Bool, draft[x].shape, Filling::Small);
  Step step{.kind = kind,
            .operands = {x, mask},
            .k = draft.random.between(1, 9),
            .number = draft.held_literal(draft[x].type)};
  if (kind == "masked_scatter")
    step.operands.push_back(draft.input(draft[x].type, {std::ssize(draft[x].places)}));
  draft.add(step);
}

// How much is picked, the call asks for: within a jit it is not known.
void draw_picked(Draft& draft) {
  static const Names kinds{"index_mask", "masked_select_all", "nonzero_all", "unique",
                           "unique_counts"};
  want(draft.program.mode == Mode::Plain, "a size that is computed");
  const std::string kind = draft.random.of(kinds);
  const std::size_t x = with_axes(draft);
  std::vector<std::size_t> operands{x};
  if (kind == "index_mask" || kind == "masked_select_all") {
    Numbers shape = draft[x].shape;
    if (kind == "index_mask") shape.resize(at(draft.random.between(1, std::ssize(shape))));
    operands.push_back(draft.input(Type::Bool, shape, Filling::Small));
  }
  draft.add({.kind = kind, .operands = operands});
}

void draw_one_hot(Draft& draft) {
  const std::int64_t classes = draft.random.between(1, 5);
  const std::size_t x = draft.places(draft.any_shape(0, 2), classes);
  draft.add({.kind = "one_hot", .operands = {x}, .k = classes});
}

void draw_scatter_form(Draft& draft) {
  static const Names kinds{"scatter_mean", "scatter_sum_only", "scatter_amax_only"};
  const std::string kind = draft.random.of(kinds);
  const std::size_t x = with_axes(draft, true);
  want(kind != "scatter_mean" || is_float(draft[x].type), "a mean of integers");
  const std::int64_t axis = draft.axis_of(draft[x]);
  Numbers shape = draft[x].shape;
  shape[at(axis_in(axis, draft[x].rank()))] = draft.random.between(1, 6);
  const std::size_t index = draft.places(shape, size_along(draft[x], axis));
  const std::size_t source = draft.input(draft[x].type, shape);
  draft.add({.kind = kind, .operands = {x, index, source}, .i = axis});
}

}  // namespace

std::vector<Family> place_families() {
  return {{4, draw_slices, true},      {3, draw_along, true},   {2, draw_flat, true},
          {3, draw_masked, true},      {2, draw_picked, false}, {1, draw_one_hot, false},
          {2, draw_scatter_form, true}};
}

}  // namespace nets
