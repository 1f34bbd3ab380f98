// From a kernel to a program: each pass takes one thing away that machines do not have.
#pragma once

#include <vector>

#include <weft/dev/rewrite/rewriter.h>

namespace weft {

// A kernel whose iterations need each other (repeated.h) does one of them while it is scheduled, and all again then.
std::vector<UOp> strip_loop(const std::vector<UOp>& roots, const RewriteOptions& options);
std::vector<UOp> in_order(const std::vector<UOp>& roots, const RewriteOptions& options);
std::vector<UOp> restore_loop(const std::vector<UOp>& roots, const RewriteOptions& options);

// The actions of a kernel's schedule (actions.h) on its loops.
std::vector<UOp> optimise(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// A range that threads, work-groups or their items share becomes a SPECIAL: each runs one iteration of it.
const RuleSet& worker_rules();
std::vector<UOp> workers(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// STAGE becomes a BUFFER, filled by loops of its own; readers index it AFTER these.
const RuleSet& stages_rules();
std::vector<UOp> stages(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// A running sum, product or extreme (rules/scan.h) becomes an accumulator that the loop which it follows
// hands on from iteration to iteration: n steps instead of n^2. That loop is a plain one, the lanes of a tile inside of it
// aside.
std::vector<UOp> scans(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// REDUCE becomes a register that a loop adds to. Reductions over equal ranges that do not depend on
// one another share the loop. What is narrower than f32 is summed in f32.
std::vector<UOp> accumulate(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Memory gets one dimension, row-major; what has none keeps none.
const RuleSet& flatten_rules();
std::vector<UOp> flatten(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Reductions that differ in nothing but the names of their ranges become one.
std::vector<UOp> common_reductions(const std::vector<UOp>& roots,
                                   const RewriteOptions& options = {});

// A loop whose conditions change at many places of its range becomes one loop after the other, in which they
// do not. NOOPT=1 leaves this out.
std::vector<UOp> index_set_split(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// The MMA ranges of a sum of products and of what stores it become one instruction, which takes and gives vectors of
// all their iterations.
std::vector<UOp> fragments(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Products of bytes that a DOT range sums become one instruction, which adds up as many in each of its lanes.
std::vector<UOp> dots(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// A range along which everything is contiguous, or the same, is split into VECTOR ranges as wide as
// the target's registers and what is left. NOOPT=1 leaves this out.
std::vector<UOp> vectorize(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// A sum of products of which a factor does not change in the inner loops, as the scale of a block, is a sum of that factor
// times sums. NOOPT=1 leaves this out.
std::vector<UOp> factor_out(const std::vector<UOp>& roots, const RewriteOptions& options = {});
std::vector<UOp> unpack(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// UNROLL and UPCAST ranges become copies, one for each iteration.
std::vector<UOp> unroll(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// A VECTOR range becomes the vector of its iterations, and what changes with it a vector; a REDUCE over it
// combines the lanes at the end.
std::vector<UOp> expand(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Lanes at a distance are read one by one; copies that read neighbours, each with such lanes, read rows instead, which are turned.
std::vector<UOp> transpose_vectors(const std::vector<UOp>& roots,
                                   const RewriteOptions& options = {});

// Copies that write every second element, or every fourth, write all of them together.
std::vector<UOp> interleave(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Lanes with a condition each are read and written in as many parts as they fill the target's registers.
const RuleSet& masked_rules();
std::vector<UOp> masked(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// With FASTMATH=1: a*b + c rounds once, where the target has an instruction for it.
const RuleSet& fma_contract_rules();
std::vector<UOp> fma_contract(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Integer ops are total, those of machines are not: where bounds do not rule it out, division by 0
// or -1 and shifts by the width are kept from them. What decompose has left of rounding down, of what
// is not negative, becomes rounding toward zero.
const RuleSet& guard_rules();
std::vector<UOp> guard(const std::vector<UOp>& roots, const RewriteOptions& options = {});

}  // namespace weft
