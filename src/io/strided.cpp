#include "strided.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <weft/error.h>

namespace weft {
namespace {

// An axis in memory: how many steps, how wide.
struct Step {
  std::int64_t axis, size, stride;
};

// The axes that move through memory, the widest steps first.
std::vector<Step> steps_of(const std::vector<std::int64_t>& shape,
                           const std::vector<std::int64_t>& strides) {
  std::vector<Step> steps;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1 && strides[axis] != 0)
      steps.push_back({static_cast<std::int64_t>(axis), shape[axis], strides[axis]});
  std::ranges::sort(steps, std::greater(), &Step::stride);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool fits = steps[i].stride > 0 &&
                      (i == 0 || (steps[i].size - 1) * steps[i].stride < steps[i - 1].stride);
    if (!fits)
      user_error(
          fmt::format("strided: a stride of {} over {} elements goes backwards or overlaps another",
                      steps[i].stride, steps[i].size));
  }
  return steps;
}

// How many steps of each lie before the first element. Nothing where a row of steps goes on in the next.
std::optional<std::vector<std::int64_t>> starts_of(const std::vector<Step>& steps,
                                                   std::int64_t offset) {
  std::int64_t inner = 1;
  for (const Step& step : steps) inner += (step.size - 1) * step.stride;
  std::vector<std::int64_t> starts;
  for (const Step& step : steps) {
    inner -= (step.size - 1) * step.stride;
    starts.push_back(offset / step.stride);
    offset %= step.stride;
    if (offset + inner > step.stride) return {};
  }
  return starts;
}

// Row-major memory as the steps see it: each takes pieces of its stride, and the next goes on within one.
Tensor stepped(Tensor memory, std::int64_t offset, const std::vector<Step>& steps) {
  auto starts = starts_of(steps, offset);
  if (!starts) {
    memory = memory.slice(0, {.start = offset});
    offset = 0;
    starts = std::vector<std::int64_t>(steps.size());
  }
  std::int64_t axis = 0;
  std::vector<std::int64_t> sizes;
  for (const Step& step : steps) {
    const std::int64_t start = (*starts)[std::size_t(axis)], stop = start + step.size;
    const std::int64_t have = memory.size(axis), want = stop * step.stride;
    if (have > want) memory = memory.slice(axis, {.stop = want});
    Tensor::Bounds padding(sizes.size(), {0, 0});
    padding.emplace_back(0, std::max<std::int64_t>(0, want - have));
    if (have < want) memory = memory.pad(padding);
    std::vector<std::int64_t> cut = sizes;
    cut.insert(cut.end(), {stop, step.stride});
    memory = memory.reshape(Shape(cut)).slice(axis++, {.start = start});
    sizes.push_back(step.size);
    offset %= step.stride;
  }
  return memory.slice(axis, {offset, offset + 1}).reshape(Shape(sizes));
}

}  // namespace

std::optional<std::int64_t> reach(const std::vector<std::int64_t>& shape,
                                  const std::vector<std::int64_t>& strides) {
  std::int64_t reached = 1, step = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return 0;
    if (shape[axis] < 0 || __builtin_mul_overflow(shape[axis] - 1, strides[axis], &step) ||
        __builtin_add_overflow(reached, step, &reached))
      return {};
  }
  return reached >= 0 ? std::optional(reached) : std::nullopt;
}

Tensor strided(const Tensor& memory, std::int64_t offset, const std::vector<std::int64_t>& shape,
               const std::vector<std::int64_t>& strides) {
  if (std::ranges::count(shape, 0) > 0) return memory.slice(0, {.stop = 0}).reshape(Shape(shape));
  const std::vector<Step> steps = steps_of(shape, strides);
  Tensor tensor = stepped(memory, offset, steps);
  std::vector<std::int64_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::int64_t at) { return steps[std::size_t(at)].axis; });
  tensor = tensor.permute(order);
  std::vector<std::int64_t> ones;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    ones.push_back(strides[axis] == 0 ? 1 : shape[axis]);
  return tensor.reshape(Shape(ones)).expand(Shape(shape));
}

}  // namespace weft
