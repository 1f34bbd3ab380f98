// Scalar values as bits, and what every elementwise op computes from them.
//
// A value is 64 bits. Integers and bool are held sign- or zero-extended from their width; floats
// are held as their own bit pattern in the low bits; Weak as f64; Index as i64. Of a vector dtype
// the functions here see one lane. Void and fragments have no values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <weft/dev/ir/op.h>
#include <weft/dtype.h>

namespace weft {

using Bits = std::uint64_t;

// CAST and BITCAST between scalar dtypes; bitcast wants equal widths. Every cast rounds once. What is
// too large for a float dtype becomes infinity, or NaN where there is none (f8e4m3). Between floats a
// NaN keeps its sign and, where both dtypes have one, the top of its payload.
Bits convert(Bits bits, DType from, DType to);
Bits reinterpret(Bits bits, DType from, DType to);

// The casts from and to i64 and f64.
// The bits as a value of the dtype holds them: integers wrapped, floats cut to their width.
Bits canonical_bits(Bits bits, DType dtype);
Bits bits_from_int(std::int64_t value, DType dtype);  // wraps ints
Bits bits_from_double(double value, DType dtype);
double double_from_bits(Bits bits, DType dtype);     // exact for floats; nearest for wide ints
std::int64_t int_from_bits(Bits bits, DType dtype);  // floats truncate and saturate; u64 wraps

// The meaning of an elementwise op (ops.def) on scalars of the sources' dtype. `dtype` is that of
// the operands (for WHERE: of the branches); comparisons return 0 or 1. Floats narrower than f32
// give what is exact, rounded as by CAST. Of the NaNs that arithmetic may give it is the positive
// quiet one. Nothing comes back for CAST and BITCAST (see above), for ops that are not elementwise,
// for a dtype that the op does not allow, and for ops whose result is only bounded (EXP2, LOG2, SIN,
// POW within 2 ulp): a device decomposes those.
std::optional<Bits> evaluate(Op op, DType dtype, std::span<const Bits> operands);

// The identity of an op, see the table; not for Identity::None. Zero is +0 in floats, what an empty
// sum is, although only x + -0 keeps every x.
Bits identity_bits(Identity identity, DType dtype);
Bits lowest_bits(DType dtype);  // -inf for floats that have it
Bits highest_bits(DType dtype);

}  // namespace weft
