// Steps that read and write at computed places, and writes to what others look at.

#include <algorithm>

#include "../families.h"

namespace nets {
namespace {

bool has_axes(const Array& x) { return x.rank() > 0; }

void draw_take(Draft& draft) {
  const auto x = draft.any(has_axes);
  want(x.has_value(), "no axes");
  const std::int64_t axis = draft.axis_of(draft[*x]);
  const std::size_t index = draft.places(draft.any_shape(0, 2), size_along(draft[*x], axis));
  draft.add({.kind = "take", .operands = {*x, index}, .i = axis});
}

// An index that is no larger than x beside the axis.
std::size_t index_along(Draft& draft, std::size_t x, std::int64_t axis, bool are_distinct) {
  Numbers shape = draft[x].shape;
  const std::size_t along = at(axis_in(axis, draft[x].rank()));
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i == along)
      shape[i] = std::max<std::int64_t>(1, draft.any_size() % 8);
    else if (draft.random.one_in(3) && shape[i] > 0)
      shape[i] = draft.random.between(1, shape[i]);
  return draft.places(shape, size_along(draft[x], axis), are_distinct);
}

void draw_gather(Draft& draft) {
  const auto x = draft.any(has_axes);
  want(x.has_value(), "no axes");
  const std::int64_t axis = draft.axis_of(draft[*x]);
  const std::size_t index = index_along(draft, *x, axis, false);
  draft.add({.kind = "gather", .operands = {*x, index}, .i = axis});
}

void draw_scatter(Draft& draft) {
  static const std::vector<std::string> kinds{"scatter",     "scatter_add",  "scatter_add",
                                              "scatter_sum", "scatter_prod", "scatter_amax",
                                              "scatter_amin"};
  const auto x = draft.any([&](const Array& a) {
    return has_axes(a) && !is_bool(a.type) && (!draft.is_smooth() || is_float(a.type));
  });
  want(x.has_value(), "no numbers");
  const std::int64_t axis = draft.axis_of(draft[*x]);
  const std::string kind = draft.random.of(kinds);
  const std::size_t index = index_along(draft, *x, axis, kind == "scatter");
  if ((kind == "scatter" || kind == "scatter_add") && draft.random.one_in(4)) {
    draft.add({.kind = kind + "_number",
               .operands = {*x, index},
               .i = axis,
               .number = draft.held_literal(draft[*x].type)});
    return;
  }
  Numbers shape = draft[index].shape;
  for (std::int64_t& size : shape)
    if (draft.random.one_in(4)) size += 1;
  const std::size_t source = draft.input(draft[*x].type, shape);
  draft.add({.kind = kind, .operands = {*x, index, source}, .i = axis});
}

// Numbers, slices, lists and tensors of integers, at least one of the last two. Arrays among the operands begin at
// `first`.
std::vector<Part> gathering_parts(Draft& draft, std::size_t x, std::vector<std::size_t>& operands) {
  Random& random = draft.random;
  const Numbers shape = draft[x].shape;
  std::vector<Part> parts;
  Numbers together = random.one_in(3) ? draft.any_shape(1, 2) : Numbers{random.between(1, 5)};
  bool has_any = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t size = shape[i];
    const bool is_last = i + 1 == shape.size();
    if (has_any && random.one_in(3)) break;
    if (size > 0 && ((is_last && !has_any) || random.one_in(2))) {
      has_any = true;
      if (random.one_in(5)) {
        Part part{.form = Part::Form::List, .list = {}};
        for (std::int64_t k = 0; k < together.back(); ++k)
          part.list.push_back(random.between(-size, size - 1));
        parts.push_back(part);
      } else {
        const Numbers own = random.one_in(4) ? Numbers{together.back()} : together;
        operands.push_back(draft.places(own, size));
        parts.push_back({.form = Part::Form::Array, .list = {}, .operand = operands.size() - 1});
      }
    } else if (size > 0 && random.one_in(4)) {
      parts.push_back(
          {.form = Part::Form::At, .number = random.between(-size, size - 1), .list = {}});
    } else {
      Part part{.form = Part::Form::Slice, .list = {}};
      if (random.one_in(2)) part.start = random.below(size + 1);
      if (random.one_in(5)) part.step = -1;
      parts.push_back(part);
    }
  }
  want(has_any, "no tensor among the indices");
  return parts;
}

void draw_index_tensors(Draft& draft) {
  const auto x = draft.any(has_axes);
  want(x.has_value(), "no axes");
  std::vector<std::size_t> operands{*x};
  const std::vector<Part> parts = gathering_parts(draft, *x, operands);
  draft.add({.kind = "index_tensors", .operands = operands, .index = parts});
}

// Numbers and slices with a step of any kind.
std::vector<Part> plain_parts(Draft& draft, const Array& x) {
  Random& random = draft.random;
  std::vector<Part> parts;
  for (const std::int64_t size : x.shape) {
    if (random.one_in(4) && !parts.empty()) break;
    if (random.one_in(3) && size > 0) {
      parts.push_back(
          {.form = Part::Form::At, .number = random.between(-size, size - 1), .list = {}});
      continue;
    }
    Part part{.form = Part::Form::Slice, .list = {}};
    if (random.one_in(2)) part.start = random.below(size + 1);
    if (random.one_in(2)) part.stop = random.between(part.start.value_or(0), size);
    if (random.one_in(4)) part.step = random.between(2, 3);
    parts.push_back(part);
  }
  return parts;
}

// What fits into a place of the shape: of fewer axes, or with sizes 1. Earlier values as well, views of
// what is written among them.
std::size_t value_for(Draft& draft, const Numbers& shape, Type type) {
  const auto found = draft.any([&](const Array& y) {
    try {
      return broadcast_shape(y.shape, shape) == shape &&
             (!is_float(y.type) || is_float(type) || draft.random.one_in(9));
    } catch (const Invalid&) {
      return false;
    }
  });
  if (found && !draft.random.one_in(4)) return *found;
  Numbers own = shape;
  if (draft.random.one_in(3) && !own.empty()) own.erase(own.begin());
  return draft.input(type, own);
}

// A place in memory that is no expansion: what writes to one element in two places is refused.
bool is_writable(const Array& x) {
  if (x.size() == 0) return false;
  std::vector<std::size_t> places = x.places;
  std::ranges::sort(places);
  return std::ranges::adjacent_find(places) == places.end();
}

std::size_t target(Draft& draft) {
  // Written to are inputs and views of them more than others.
  const auto x = draft.any(
      [&](const Array& a) { return is_writable(a) && (!draft.is_smooth() || is_float(a.type)); });
  want(x.has_value(), "nothing to write to");
  // An expansion of one element to itself is an expansion, too.
  for (std::size_t i = *x;;) {
    const Step& step = draft.program.steps[i];
    // A jit takes arguments that are not written to; the gradient of one that is would be that of
    // what it is then.
    want(!step.is_argument, "an argument");
    want(step.kind != "expand" && step.kind != "unfold" && !step.kind.starts_with("meshgrid"),
         "an expansion");
    if (step.operands.empty() || draft[step.operands[0]].storage != draft[i].storage) break;
    i = step.operands[0];
  }
  return *x;
}

void draw_set(Draft& draft) {
  const std::size_t x = target(draft);
  want(has_axes(draft[x]), "no axes");
  const std::vector<Part> parts = plain_parts(draft, draft[x]);
  const Numbers shape = sliced(draft[x], parts).shape;
  if (draft.random.one_in(4)) {
    draft.add({.kind = "set_number",
               .operands = {x},
               .number = draft.held_literal(draft[x].type),
               .index = parts});
    return;
  }
  draft.add(
      {.kind = "set", .operands = {x, value_for(draft, shape, draft[x].type)}, .index = parts});
}

// A mask of the first axes.
void draw_set_mask(Draft& draft) {
  want(draft.program.mode != Mode::Jit, "a size that is computed");
  const std::size_t x = target(draft);
  want(has_axes(draft[x]), "no axes");
  Numbers shape = draft[x].shape;
  shape.resize(at(draft.random.between(1, std::ssize(shape))));
  const std::size_t mask = draft.input(Type::Bool, shape, Filling::Small);
  draft.add(
      {.kind = "set_mask", .operands = {x, mask}, .number = draft.held_literal(draft[x].type)});
}

void draw_set_tensors(Draft& draft) {
  const std::size_t x = target(draft);
  want(has_axes(draft[x]), "no axes");
  std::vector<std::size_t> operands{x, x};
  const std::vector<Part> parts = gathering_parts(draft, x, operands);
  const Array read =
      evaluate({.kind = "index_tensors", .operands = operands, .index = parts}, draft.values, 0);
  operands[1] = value_for(draft, read.shape, draft[x].type);
  const bool is_put = draft.random.one_in(2);
  draft.add({.kind = is_put ? "index_put" : "set",
             .operands = operands,
             .flag = is_put && draft.random.one_in(2) && !is_bool(draft[x].type),
             .index = parts});
}

void draw_assign(Draft& draft) {
  const std::size_t x = target(draft);
  if (draft.random.one_in(5)) {
    draft.add(
        {.kind = "assign_number", .operands = {x}, .number = draft.held_literal(draft[x].type)});
    return;
  }
  draft.add({.kind = "assign", .operands = {x, value_for(draft, draft[x].shape, draft[x].type)}});
}

void draw_in_place(Draft& draft) {
  static const std::vector<std::string> all{"add", "sub", "mul", "add",         "sub",
                                            "mul", "div", "mod", "bitwise_and", "bitwise_or"};
  static const std::vector<std::string> smooth{"add", "sub", "mul", "add"};
  const std::size_t x = target(draft);
  want(!is_bool(draft[x].type), "bools");
  const std::string kind = draft.random.of(draft.is_smooth() ? smooth : all);
  if (draft.random.one_in(3)) {
    draft.add({.kind = "i" + kind + "_number",
               .operands = {x},
               .number = draft.held_literal(draft[x].type)});
    return;
  }
  draft.add({.kind = "i" + kind, .operands = {x, value_for(draft, draft[x].shape, draft[x].type)}});
}

// Several values become functions of all of them, each as they were before: a step of a training loop, a rotation.
void draw_updates(Draft& draft) {
  static const std::vector<std::string> kinds{"add", "sub", "mul", "maximum"};
  const std::size_t x = target(draft);
  want(!is_bool(draft[x].type), "bools");
  std::vector<std::size_t> states{x}, values;
  for (std::int64_t i = draft.random.between(1, 2); i > 0; --i)
    states.push_back(draft.input(draft[x].type, draft[x].shape));
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::size_t other = states[(i + 1) % states.size()];
    const std::size_t first = draft.random.one_in(2) ? states[i] : draft.random.of(states);
    values.push_back(draft.add({.kind = draft.random.of(kinds), .operands = {first, other}}));
  }
  for (std::size_t i = 0; i < states.size(); ++i)
    draft.add({.kind = "assign", .operands = {states[i], values[i]}});
}

}  // namespace

std::vector<Family> indexing_families() {
  return {{3, draw_take, true},          {3, draw_gather, true}, {4, draw_scatter, true},
          {4, draw_index_tensors, true}, {6, draw_set, true},    {3, draw_set_tensors, true},
          {2, draw_set_mask, true},      {5, draw_assign, true}, {5, draw_in_place, true},
          {2, draw_updates, true}};
}

}  // namespace nets
