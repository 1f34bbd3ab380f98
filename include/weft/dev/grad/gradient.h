// Reverse-mode differentiation of the tensor graph. Gradients are graphs of the same ops, so they
// have gradients too.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// d loss / d target for each target, which may be any node: of its shape and dtype, zero where the
// loss does not depend on it. `seed` is the gradient of the loss itself, by default 1 in every
// element. Only floats have gradients.
std::vector<UOp> gradient(const UOp& loss, const std::vector<UOp>& targets, const UOp& seed = {});

// The gradients of a call's arguments, one for each; null where there is none. `output` is the
// gradient of what the call returns: of a list a TUPLE, with an empty TUPLE for a member without.
// The function must not hold the call, which owns it.
using CallGradient = std::function<std::vector<UOp>(const UOp& output, const UOp& call)>;

// CALL(body, arguments ...). Without `backward`, its gradient is a call of the body's own gradient;
// tensors that the body holds and does not get as arguments count as constant.
//
// `backward` lives as long as the node. A copy (on other sources, in another interner) has the same
// id and finds it by that, as long as the node or a copy that was differentiated lives; where none
// does, asking for its gradient is an error.
UOp call(const UOp& body, const std::vector<UOp>& arguments, CallGradient backward = {},
         std::string_view name = {});

// The graph, whose calls have their functions even where the nodes that these were given to go.
UOp with_call_gradients(const UOp& graph);

// The value as a CALL whose gradient computes it again from these nodes that it is made of, once the gradient
// of the value is there: what lies between need not be kept until then.
UOp checkpoint(const UOp& value, const std::vector<UOp>& kept);

}  // namespace weft
