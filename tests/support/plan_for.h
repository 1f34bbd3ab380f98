// Plans for a target that a test describes: the same on every machine.
#pragma once

#include <vector>

#include <weft/dev/schedule/plan.h>
#include <weft/weft.h>

#include "../../src/engine/resolve.h"

namespace weft {

// Two workers with vectors of 32 bytes.
inline Target fixed_target() {
  Target target{.ops = {Op::MulAcc}, .vector_bytes = 32};
  target.machine.vector_bytes = 32;
  target.machine.registers = 16;
  target.machine.set_workers(2);
  target.machine.memory = {
      {32 << 10, 8, 120e9, false}, {512 << 10, 8, 45e9, false}, {8 << 20, 16, 10e9, true}};
  return target;
}

// Kernels as fusion makes them, before expected times change any. The interner is the current one, an arena.
inline Plan plan_for(const Target& target, const std::vector<Tensor>& tensors) {
  std::vector<Wanted> wanted;
  for (const Tensor& tensor : tensors) wanted.push_back({tensor.uop(), Symbol(tensor.device())});
  return make_plan(resolve(wanted, PassOptions()).roots, target);
}

struct PlannedWork {
  std::size_t kernels = 0;
  double flops = 0, bytes = 0;
};
inline PlannedWork work_for(const Target& target, const std::vector<Tensor>& tensors) {
  Arena arena;
  const InternerScope scope(arena);
  PlannedWork work;
  for (const Step& step : plan_for(target, tensors).steps) {
    ++work.kernels;
    work.flops += step.work.flops;
    work.bytes += step.work.bytes;
  }
  return work;
}
inline std::size_t kernels_for(const Target& target, const std::vector<Tensor>& tensors) {
  return work_for(target, tensors).kernels;
}

}  // namespace weft
