// From tensors to loops: every output element gets indices, and they are pushed through the graph
// until they reach memory. Views become index arithmetic with a validity; none survive.
//
// LOAD(INDEX(x, valid, i ...)) stands for the element of the tensor x at i ..., whatever x is. Of what
// has no memory of its own, it may be anything where `valid` is false: nobody looks at it there. Of
// memory, and of a gather, it is 0 or the LOAD's other source, as ever.
#pragma once

#include <vector>

#include <weft/dev/rewrite/rewriter.h>
#include <weft/dev/rules/symbolic.h>

namespace weft {

UOp place(const UOp& tensor, const UOp& valid, const std::vector<UOp>& indices);  // the INDEX
UOp element(const UOp& tensor, const UOp& valid, const std::vector<UOp>& indices);

// Indices through elementwise ops, movement, reductions and gathers.
const RuleSet& push_rules();
// With the algebra that keeps them small on the way.
const RuleSet& ranges_rules(Algebra which = algebra_in_force());
// To the fixed point.
std::vector<UOp> ranges(const std::vector<UOp>& roots, const RewriteOptions& options = {});

}  // namespace weft
