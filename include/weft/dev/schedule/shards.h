// Tensors in parts on several devices become tensors on one device each.
//
// SHARD makes a MULTI, and rules move it through the graph to the roots: an op of MULTIs is a MULTI of
// ops. An op knows for each device which section of its operands that takes (sections.h); what lies
// elsewhere comes by COPY.
#pragma once

#include <weft/dev/ir/multi.h>
#include <weft/dev/rewrite/rule.h>

namespace weft {

// How devices add up what each has a part of.
enum class AllReduceBy {
  Size,     // by rings what is large, on more than two devices
  Naive,    // each device gets all parts of the others
  Ring,     // the device after it adds to a piece and hands it on, then the sums go around
  All2All,  // each device adds up one piece of all, then the sums go to all
};
AllReduceBy all_reduce_in_force();  // the setting ALLREDUCE

struct Collectives {
  AllReduceBy all_reduce = AllReduceBy::Size;
};

// They know Collectives as their context. The last of them are about any COPY: of what is there already it is
// nothing; what no device holds, such as constants, is made anew where it is wanted.
const RuleSet& shard_rules();

// Whether a rule may apply: most graphs are on one device.
bool has_several_devices(NodeList roots);

// Whether each device has those elements of the view that it has of the tensor below.
bool stays_in_parts(const UOp& view, const UOp& tensor);

// How the tensor lies on its devices; on none where it is not in parts.
Layout layout_of(const UOp& tensor);

}  // namespace weft
