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

}  // namespace weft
