// A step that a program repeats, as solvers, training loops and recurrent layers do: compiled as a loop where it is found to
// be one.

#include "../families.h"

namespace nets {
namespace {

// What a step does to the state, beside it a row of its own, what all steps share, or a number of itself.
struct StepOperation {
  const char* kind;
  enum class Beside : std::uint8_t { Row, Shared, Total, Nothing } beside;
};

StepOperation any_of_step(Draft& draft) {
  using enum StepOperation::Beside;
  static const std::vector<StepOperation> all{
      {"add", Row},     {"sub", Row},     {"mul", Row},       {"maximum", Row},
      {"add", Shared},  {"mul", Shared},  {"add", Total},     {"sub", Total},
      {"neg", Nothing}, {"abs", Nothing}, {"maximum", Shared}};
  return draft.random.of(all);
}

std::size_t total(Draft& draft, std::size_t x, bool keeps_axes) {
  Numbers axes;
  for (std::int64_t axis = 0; axis < draft[x].rank(); ++axis) axes.push_back(axis);
  return draft.add({.kind = "sum", .operands = {x}, .n = axes, .k = 1, .flag = keeps_axes});
}

void draw_recurrence(Draft& draft) {
  Random& random = draft.random;
  static const std::vector<Numbers> shapes{{}, {1}, {1, 1}, {3}, {1, 3}, {2, 3}, {2, 1}};
  const Numbers shape = random.of(shapes);
  const Type type = draft.is_smooth() ? Type::F64 : random.of(std::vector{Type::F32, Type::I32});
  const std::int64_t steps = random.between(4, 12);
  Numbers of_rows = shape;
  of_rows.insert(of_rows.begin(), steps);
  std::size_t state = draft.input(type, shape, Filling::Small);
  const std::size_t rows = draft.input(type, of_rows, Filling::Small);
  const std::size_t shared = draft.input(type, shape, Filling::Small);
  std::vector<StepOperation> operations;
  for (std::int64_t count = random.between(1, 3); count > 0; --count)
    operations.push_back(any_of_step(draft));
  const bool collects = random.one_in(2), keeps_axes = random.one_in(2);
  std::vector<std::size_t> collected;
  for (std::int64_t t = 0; t < steps; ++t) {
    const std::size_t row = draft.add({.kind = "select", .operands = {rows}, .i = 0, .j = t});
    for (const auto& [kind, beside] : operations) {
      std::vector<std::size_t> operands{state};
      if (beside == StepOperation::Beside::Row) operands.push_back(row);
      if (beside == StepOperation::Beside::Shared) operands.push_back(shared);
      if (beside == StepOperation::Beside::Total)
        operands.push_back(total(draft, state, keeps_axes));
      state = draft.add({.kind = kind, .operands = operands});
    }
    state = draft.is_smooth() ? draft.add({.kind = "tanh", .operands = {state}})
                              : draft.add({.kind = "clamp", .operands = {state}, .i = -3, .j = 4});
    if (type == Type::I32) state = draft.add({.kind = "cast", .operands = {state}, .type = type});
    if (collects) collected.push_back(total(draft, state, false));
  }
  if (collects) draft.add({.kind = "stack", .operands = collected, .i = 0});
}

}  // namespace

std::vector<Family> recurrence_families() { return {{1, draw_recurrence, true}}; }

}  // namespace nets
