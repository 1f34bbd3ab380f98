// Kernels to schedule, and a machine that is the same everywhere.
#pragma once

#include <cstdint>

#include <weft/dev/device/target.h>

#include "../support/kernels.h"

namespace weft {

inline Target fixed_target(int workers = 1) {
  Target target{.lowered = true, .ops = {Op::MulAcc}, .vector_bytes = 64};
  target.machine.set_workers(target.workers = workers);
  target.machine.memory = {
      {48e3, 12, 120e9, false}, {2e6, 16, 45e9, false}, {32e6, 16, 20e9, true}};
  return target;
}

inline UOp loop(std::int64_t size) { return range(size, fresh_id().value); }
inline UOp reduction(std::int64_t size) { return range(size, fresh_id().value, LoopKind::Reduce); }
inline UOp kernel_of(const UOp& effect) {
  return make(Op::Sink, {effect}, {}, KernelArg{Symbol("k")});
}

// p1: m x k, p2: k x n
inline UOp matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  const UOp i = loop(m), j = loop(n), l = reduction(k);
  const UOp a = load(place(param(1, Access::Read, {size(m), size(k)}), {i, l}));
  const UOp b = load(place(param(2, Access::Read, {size(k), size(n)}), {l, j}));
  const UOp out = place(param(0, Access::Write, {size(m), size(n)}), {i, j});
  return kernel_of(over(put(out, reduce(Op::Add, {a * b, l})), {i, j}));
}

inline UOp rows(std::int64_t m, std::int64_t k) {
  const UOp i = loop(m), l = reduction(k);
  const UOp x = load(place(param(1, Access::Read, {size(m), size(k)}), {i, l}));
  const UOp out = place(param(0, Access::Write, {size(m)}), {i});
  return kernel_of(over(put(out, reduce(Op::Add, {x, l})), {i}));
}

inline UOp elements(std::int64_t n) {
  const UOp i = loop(n);
  const UOp x = load(place(param(1, Access::Read, {size(n)}), {i}));
  return kernel_of(over(put(place(param(0, Access::Write, {size(n)}), {i}), x * 2.0), {i}));
}

inline UOp transpose(std::int64_t m, std::int64_t n) {
  const UOp i = loop(m), j = loop(n);
  const UOp x = load(place(param(1, Access::Read, {size(n), size(m)}), {j, i}));
  return kernel_of(
      over(put(place(param(0, Access::Write, {size(m), size(n)}), {i, j}), x), {i, j}));
}

}  // namespace weft
