// What a target lacks, in terms of what it has.
//
// Each set is one subject; a renderer joins those that its target needs. All results are exact as
// ops.def says, or where that leaves a tolerance the same bits on every device: every step is an op
// with one result. Vectors are decomposed lane by lane, and stay vectors.
#pragma once

#include <vector>

#include <weft/dev/rewrite/rewriter.h>

namespace weft {

const RuleSet& transcendental_rules();  // EXP2, LOG2, SIN, POW; in f16 and below computed in f32
const RuleSet& narrow_rules();          // arithmetic of f16, bf16 and fp8 in f32, rounded once
const RuleSet& narrow_cast_rules();     // casts from and to those, in integers
const RuleSet& magnitude_rules();       // |x| by its bits
const RuleSet& threefry_rules();        // THREEFRY, in 32-bit integers
const RuleSet& divide_rules();          // integer division by constants; rounding down by CDIV

// What a constant factor lacks of the number that it was rounded from, where that is 1/ln 2, or a power of two times
// that; 0 for others. Of f32 and f64. EXP2 of a product with the factor adds it, so that exp is near enough.
double lost_of(double factor, DType dtype);

// All of the above. Also for one fixed point with symbolic().
const RuleSet& decompositions();
std::vector<UOp> decompose(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// i64 and u64 as two u32, for targets that have no 64-bit integers. What is left: memory that holds
// them, division, casts from and to floats. Builds constants that fold_rules() folds.
const RuleSet& half_rules();

// FLOORDIV and FLOORMOD of what is not negative as CDIV and CMOD. Part of guard, at the end:
// symbolic() writes it the other way.
const RuleSet& truncating_rules();

}  // namespace weft
