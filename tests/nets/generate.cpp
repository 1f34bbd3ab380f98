#include "generate.h"

#include <algorithm>

#include "families.h"

namespace nets {

const std::vector<Family>& families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> result;
    for (const auto& part :
         {elementwise_families(), movement_families(), reduction_families(), indexing_families(),
          function_families(), shape_families(), statistics_families(), place_families(),
          network_families(), recurrence_families()})
      result.insert(result.end(), part.begin(), part.end());
    return result;
  }();
  return all;
}

void draw_request(Draft& draft) {
  const bool is_read = draft.program.mode == Mode::Plain && draft.random.one_in(3);
  Step step{.kind = is_read ? "read" : "realize"};
  const std::int64_t count = draft.random.between(1, 3);
  for (std::int64_t i = 0; i < count; ++i) step.operands.push_back(draft.any());
  draft.add(std::move(step));
}

// The last value and some others, each at least once, in an order and in groups that the seed picks.
void draw_outputs(Draft& draft) {
  Random& random = draft.random;
  std::vector<std::size_t> outputs;
  for (std::size_t i = draft.values.size(); i-- > 0;) {
    const Step& step = draft.program.steps[i];
    if (is_request(step) || (is_input(step) && !random.one_in(6))) continue;
    const bool is_smooth_output = !draft.is_smooth() || is_float(draft.values[i].type);
    if (is_smooth_output && (outputs.empty() || (outputs.size() < 5 && random.one_in(3))))
      outputs.push_back(i);
  }
  if (outputs.empty()) outputs.push_back(draft.any());
  for (std::size_t i = outputs.size(); i > 1; --i)
    std::swap(outputs[i - 1], outputs[at(random.below(static_cast<std::int64_t>(i)))]);
  const bool are_together = draft.program.mode != Mode::Plain;
  for (std::size_t i = 0; i < outputs.size();) {
    const std::size_t rest = outputs.size() - i;
    const std::size_t count = are_together || random.one_in(2)
                                  ? rest
                                  : at(random.between(1, static_cast<std::int64_t>(rest)));
    Step step{.kind = "read"};
    step.operands.assign(outputs.begin() + static_cast<std::ptrdiff_t>(i),
                         outputs.begin() + static_cast<std::ptrdiff_t>(i + count));
    i += count;
    draft.add(std::move(step));
  }
}

namespace {

Mode mode_of(Random& random) {
  const std::int64_t drawn = random.below(20);
  return drawn < 2 ? Mode::Jit : drawn < 4 ? Mode::Gradient : Mode::Plain;
}

void draw_step(Draft& draft) {
  int sum = 0;
  const auto weight = [&](const Family& family) {
    return draft.is_smooth() && !family.is_smooth ? 0 : family.weight;
  };
  for (const Family& family : families()) sum += weight(family);
  std::int64_t drawn = draft.random.below(sum);
  for (const Family& family : families())
    if ((drawn -= weight(family)) < 0) return family.draw(draft);
}

}  // namespace

Program random_program(std::uint64_t seed) {
  Random first(seed ^ 0x5bf03635u);
  const Mode mode = mode_of(first);
  Draft draft(seed, mode, mode == Mode::Jit ? 4 : 1);
  draft.is_large = mode == Mode::Plain && first.one_in(16);
  Random& random = draft.random;
  draft.program.drops_handles = random.one_in(3);
  const std::int64_t inputs = random.between(1, 3);
  for (std::int64_t i = 0; i < inputs; ++i) draft.input(draft.any_type(), draft.any_shape());
  const std::size_t steps = at(random.between(2, random.one_in(4) ? 16 : 9));
  for (int tries = 0; draft.program.steps.size() < steps + at(inputs) && tries < 60; ++tries) {
    try {
      if (mode != Mode::Jit && random.one_in(9))
        draw_request(draft);
      else
        draw_step(draft);
    } catch (const Invalid&) {
    }
  }
  draw_outputs(draft);
  return draft.program;
}

}  // namespace nets
