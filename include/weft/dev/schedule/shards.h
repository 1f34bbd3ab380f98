// Lowers tensors that are sharded over several devices to tensors on one device each.
//
// SHARD becomes a MULTI, and rules move it through the graph to the roots: an op of MULTIs becomes
// a MULTI of ops. Each device gets the slices of the operands that it needs (shard_slices.h). Data
// of other devices comes by COPY.
#pragma once

#include <weft/dev/ir/multi.h>
#include <weft/dev/rewrite/rule.h>

namespace weft {

// The algorithm by which devices add up their partial results.
enum class AllReduceBy {
  Size,     // Ring for large tensors on more than two devices, otherwise Naive
  Naive,    // each device gets the parts of all others and adds them up
  Ring,     // pieces of the sum pass around the devices, each of which adds its own, then again
  All2All,  // each device adds up one piece and sends the sum to all others
};
AllReduceBy all_reduce_in_force();  // the setting ALLREDUCE

struct Collectives {
  AllReduceBy all_reduce = AllReduceBy::Size;
};

// Their context is Collectives. They also remove a COPY of data that is on its device already, and
// recreate values that no device holds, such as constants, where they are needed.
const RuleSet& shard_rules();

// Whether the graph has a COPY, SHARD or MULTI. Most graphs have none and need no such rules.
bool has_several_devices(NodeList roots);

// Whether each device's part of the view is a view of its own part of the tensor.
bool stays_in_parts(const UOp& view, const UOp& tensor);

// Returns the layout of the tensor over its devices, which is on no device if it is not sharded.
Layout layout_of(const UOp& tensor);

}  // namespace weft
