// Lowers tensors to loops: every output element gets indices, which are pushed through the graph
// until they reach memory. All views become index arithmetic with a validity.
//
// LOAD(INDEX(x, valid, i ...)) is the element of the tensor x at i ..., whatever x is. Where
// `valid` is false, the element is 0 or the LOAD's other source if x is memory or a gather.
// Otherwise it may be anything, because no user reads it there.
#pragma once

#include <vector>

#include <weft/dev/rewrite/rewriter.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {

UOp place(const UOp& tensor, const UOp& valid, const std::vector<UOp>& indices);  // the INDEX
UOp element(const UOp& tensor, const UOp& valid, const std::vector<UOp>& indices);

// Pushes indices through elementwise ops, movement, reductions and gathers.
const RuleSet& push_rules();
// The same with the algebra that keeps indices small.
const RuleSet& ranges_rules(Algebra which = algebra_in_force());
// Applies ranges_rules() to the fixed point.
std::vector<UOp> ranges(const std::vector<UOp>& roots, const RewriteOptions& options = {});

}  // namespace weft
