// What a reduction is kept in until it is complete.
#pragma once

#include <weft/dev/ir/uop.h>

namespace weft {

// Sums of few bits would lose their small terms.
inline DType accumulator_of(Op op, DType dtype) {
  return op != Op::Max && dtype.is_float() && dtype.bits() < 32 ? dtypes::f32.vec(dtype.lanes())
                                                                : dtype;
}

inline UOp identity_of(Op op, DType dtype) {
  return const_bits(dtype, identity_bits(info(op).identity, dtype.scalar()));
}

// A product is not rounded before a sum that it goes into, where that is one instruction.
inline UOp added_to(const UOp& sum, Op op, const UOp& value, bool fuses) {
  const bool is_product = op == Op::Add && value->op() == Op::Mul && value->dtype().is_float();
  return fuses && is_product && value->dtype().bits() >= 32
             ? make(Op::MulAcc, {value.src(0), value.src(1), sum})
             : make(op, {sum, value});
}

// The same, behind the products that the value comes to: each takes the sum so far in.
inline UOp added_behind(const UOp& sum, Op op, const UOp& value, bool fuses) {
  if (!fuses || op != Op::Add || value->op() != Op::MulAcc) return added_to(sum, op, value, fuses);
  return make(Op::MulAcc, {value.src(0), value.src(1), added_behind(sum, op, value.src(2), fuses)});
}

}  // namespace weft
