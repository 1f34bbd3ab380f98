// Accumulators of reductions: their dtype, their initial value, and how a value is added to them.
#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// Returns the dtype to accumulate in. Narrow floats accumulate in f32, because a narrow sum would
// lose small terms.
inline DType accumulator_of(Op op, DType dtype) {
  return op != Op::Max && dtype.is_float() && dtype.bits() < 32 ? dtypes::f32.vec(dtype.lanes())
                                                                : dtype;
}

inline UOp identity_of(Op op, DType dtype) {
  return const_bits(dtype, identity_bits(info(op).identity, dtype.scalar()));
}

// Combines `value` with the accumulator. If `fuses`, a product of at least 32 bits is added by a
// MULACC, which does not round it first.
inline UOp added_to(const UOp& sum, Op op, const UOp& value, bool fuses) {
  const bool is_product = op == Op::Add && value->op() == Op::Mul && value->dtype().is_float();
  return fuses && is_product && value->dtype().bits() >= 32
             ? make(Op::MulAcc, {value.src(0), value.src(1), sum})
             : make(op, {sum, value});
}

// As added_to(). If `value` is a chain of MULACCs, the accumulator is added at its innermost end.
inline UOp added_behind(const UOp& sum, Op op, const UOp& value, bool fuses) {
  if (!fuses || op != Op::Add || value->op() != Op::MulAcc) return added_to(sum, op, value, fuses);
  return make(Op::MulAcc, {value.src(0), value.src(1), added_behind(sum, op, value.src(2), fuses)});
}

}  // namespace weft
