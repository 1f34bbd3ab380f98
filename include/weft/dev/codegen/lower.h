// Passes that lower a kernel to a program. Most remove one concept that machines do not have.
#pragma once

#include <vector>

#include <weft/dev/rewrite/rewriter.h>

namespace weft {

// A kernel whose iterations depend on each other (repeated.h) is scheduled for a single one.
// strip_loop strips its loop, in_order orders reads after earlier writes of the same iteration, and
// restore_loop restores the loop.
std::vector<UOp> strip_loop(const std::vector<UOp>& roots, const RewriteOptions& options);
std::vector<UOp> in_order(const std::vector<UOp>& roots, const RewriteOptions& options);
std::vector<UOp> restore_loop(const std::vector<UOp>& roots, const RewriteOptions& options);

// Applies the schedule of each kernel (actions.h). The results are followed by the kernels that
// fill prepacked constants.
std::vector<UOp> optimise(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Replaces a range that threads, work-groups or work-items share by a SPECIAL: each worker runs one
// iteration.
const RuleSet& worker_rules();
std::vector<UOp> workers(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Replaces a STAGE by a BUFFER that loops of its own fill. Readers index it AFTER these loops.
const RuleSet& stages_rules();
std::vector<UOp> stages(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Turns a prefix sum, product or extreme (rules/scan.h) into an accumulator that a loop carries
// from iteration to iteration: n steps instead of n^2. The loop must be a plain one; a tile of it
// may be vector lanes.
std::vector<UOp> scans(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Replaces a REDUCE by a loop that updates a register. Independent reductions over equal ranges
// share the loop. Floats narrower than f32 are summed in f32.
std::vector<UOp> accumulate(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Gives all memory a single dimension, in row-major order. Scalars stay without dimensions.
const RuleSet& flatten_rules();
std::vector<UOp> flatten(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Merges reductions that differ only in the names of their ranges.
std::vector<UOp> common_reductions(const std::vector<UOp>& roots,
                                   const RewriteOptions& options = {});

// Splits a loop whose conditions change at several points of its range, or select the buffer that
// is read, into consecutive loops in which they are constant. NOOPT=1 disables it.
std::vector<UOp> index_set_split(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Replaces the MMA ranges of a stored sum of products by one instruction, whose operands and result
// are vectors of all their iterations.
std::vector<UOp> fragments(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Replaces a sum of products over a DOT range by one instruction, which adds up the products of all
// its iterations in each lane.
std::vector<UOp> dots(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Splits a range along which all accesses are contiguous or invariant into VECTOR ranges as wide as
// the target's registers and a remainder. Accesses that can be transposed, interleaved or shuffled
// are accepted as well. NOOPT=1 disables it.
std::vector<UOp> vectorize(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Moves factors that are invariant in the inner loops of a sum, such as the scale of a block, out
// of these loops. NOOPT=1 disables it.
std::vector<UOp> factor_out(const std::vector<UOp>& roots, const RewriteOptions& options = {});
// Widens packed bit fields that become floats when they are loaded. NOOPT=1 disables it.
std::vector<UOp> unpack(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Replaces UNROLL and UPCAST ranges by a copy of the body for each iteration.
std::vector<UOp> unroll(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Replaces a VECTOR range by the vector of its iterations, and all values that depend on it by
// vectors. A REDUCE over it combines the lanes at the end.
std::vector<UOp> expand(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Replaces strided vector loads by a scalar load for each lane. If copies load neighbouring
// elements with such lanes, they load rows instead, which are transposed.
std::vector<UOp> transpose_vectors(const std::vector<UOp>& roots,
                                   const RewriteOptions& options = {});

// Merges stores to every second or fourth element that together are contiguous.
std::vector<UOp> interleave(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Splits vector accesses with a condition for each lane into parts as wide as the target's
// registers. Lanes that read one valid place load it once.
const RuleSet& masked_rules();
std::vector<UOp> masked(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// With FASTMATH=1, fuses a*b + c into a MULACC, which rounds once, if the target has it.
const RuleSet& fma_contract_rules();
std::vector<UOp> fma_contract(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// Guards machine instructions against division by 0 or -1 and shifts by the width or more, unless
// bounds exclude these: integer ops are total, those of machines are not. Flooring division of
// non-negative operands that decompose has left becomes truncating division.
const RuleSet& guard_rules();
std::vector<UOp> guard(const std::vector<UOp>& roots, const RewriteOptions& options = {});

}  // namespace weft
