// From tensors to loops: every output element gets indices, and they are pushed through the graph
// until they reach memory. Views become index arithmetic with a validity; none survive.
//
// LOAD(INDEX(x, valid, i ...)) stands for the element of the tensor x at i ..., whatever x is. Where
// `valid` is false nobody looks at it, so that it may be anything.
#pragma once

#include <vector>

#include <weft/dev/rewrite/rewriter.h>

namespace weft {

UOp element(const UOp& tensor, const UOp& valid, const std::vector<UOp>& indices);

// Pushes indices through movement, arithmetic and reductions; with symbolic(), which keeps them
// small on the way.
const RuleSet& ranges_rules();
std::vector<UOp> ranges(const std::vector<UOp>& roots, const RewriteOptions& options = {});

// A kernel (a SINK) that computes each value and stores it: loops over every element, the ranges of
// equal shapes shared. Values are still tensors; ranges_rules() open them.
struct Output {
  UOp storage, value;
};
UOp make_kernel(std::string_view name, const std::vector<Output>& outputs);

}  // namespace weft
