// Decomposes ops that a target lacks into ops that it has.
//
// Each rule set covers one subject. Results are as exact as ops.def requires. Where it leaves a
// tolerance, they have the same bits on every device, because every step is an op with one defined
// result. Vectors are decomposed lane by lane, and stay vectors.
#pragma once

#include <vector>

#include <weft/dev/rewrite/rewriter.h>

namespace weft {

const RuleSet& transcendental_rules();  // EXP2, LOG2, SIN, POW; f16 and narrower in f32
const RuleSet& narrow_rules();          // arithmetic of f16, bf16 and fp8 in f32, rounded once
const RuleSet& narrow_cast_rules();     // casts from and to these types, by integer ops
const RuleSet& magnitude_rules();       // |x| by its bits
const RuleSet& threefry_rules();        // THREEFRY, in 32-bit integers
const RuleSet& divide_rules();          // integer division by constants; flooring division by CDIV

// Returns the rounding error of an f32 or f64 factor that is 1/ln 2 times a power of two, and 0 for
// other factors. EXP2 of a product with the factor adds this error, so that exp is precise enough.
double rounding_error_of(double factor, DType dtype);

// All of the above. They also reach a fixed point together with symbolic().
const RuleSet& decompositions();
std::vector<UOp> decompose(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Splits i64 and u64 into two u32, for targets without 64-bit integers. Memory that holds them,
// division, and casts from and to floats remain. The rules build constants that fold_rules() folds.
const RuleSet& half_rules();

// Replaces FLOORDIV and FLOORMOD of non-negative operands by CDIV and CMOD. The pass guard applies
// them at the end, because symbolic() rewrites in the opposite direction.
const RuleSet& truncating_rules();

}  // namespace weft
