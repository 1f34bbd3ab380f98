// Recognises vector indices with a constant stride, in the form that `expand` writes.
#pragma once

#include <cstdint>
#include <optional>

#include <weft/dev/ir/uop.h>

namespace weft {

// The index base + offset + lane * stride.
struct StridedIndex {
  const Node* base = nullptr;  // null: 0
  std::int64_t offset = 0, stride = 0;
};

// Returns the step of a STACK of constants 0, step, 2 * step ...; nothing for other nodes.
inline std::optional<std::int64_t> step_of(const Node* stack) {
  if (stack->op() != Op::Stack || stack->size() < 2 || !stack->src(1)->is_const()) return {};
  const std::int64_t step = stack->src(1)->lo();
  for (std::size_t lane = 0; lane < stack->size(); ++lane)
    if (!stack->src(lane)->is_const_int(static_cast<std::int64_t>(lane) * step)) return {};
  return step;
}

// Splits a vector index into base, offset and stride; nothing if it has another form.
inline std::optional<StridedIndex> strided_index_of(const Node* at) {
  if (const auto step = step_of(at)) return StridedIndex{nullptr, 0, *step};
  if (at->op() != Op::Add) return {};
  const bool is_second = at->src(1)->op() == Op::Splat;
  const Node *splat = at->src(is_second ? 1 : 0), *stack = at->src(is_second ? 0 : 1);
  const auto step = step_of(stack);
  if (splat->op() != Op::Splat || !step) return {};
  const Node* base = splat->src(0);
  if (base->is_const()) return StridedIndex{nullptr, base->lo(), *step};
  if (base->op() != Op::Add || !base->src(1)->is_const()) return StridedIndex{base, 0, *step};
  return StridedIndex{base->src(0), base->src(1)->lo(), *step};
}

// Returns base + offset, where the base may be null: 0.
inline UOp plus_offset(const UOp& base, std::int64_t offset, DType dtype) {
  if (base.is_null()) return const_int(offset, dtype);
  return offset == 0 ? base : base + offset;
}

}  // namespace weft
