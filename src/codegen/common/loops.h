// Loops of a kernel and the memory that they fill: kinds of ranges, and what copies of loops need,
// beside slice.h and filled.h.
#pragma once

#include <vector>

#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>

namespace weft {

// Whether the node is the range of a loop of this kind.
template <LoopKind kind>
bool is_range(const Node* node) {
  return node->op() == Op::Range && kind_of(node) == kind;
}

// Returns a new range of this size, or of the same size, and of the same kind.
inline UOp range_like(const Node* range, const UOp& size) {
  return weft::range(size, fresh_id().value, kind_of(range));
}
inline UOp range_like(const Node* range) { return range_like(range, UOp(range->src(0))); }

// Returns the members of a list; of something else, itself.
inline std::vector<UOp> list_members(const UOp& body) {
  return body->op() == Op::Tuple ? list_of(body->src()) : std::vector{body};
}
// Returns those of what an END repeats or a REDUCE combines.
inline NodeList members_in(const Node* closer) {
  const NodeList body = closer->src().first(1);
  return body[0]->op() == Op::Tuple ? body[0]->src() : body;
}

// Returns the closer of `body` and other loops; `body` itself if there are none.
inline UOp closed_over(const UOp& closer, const UOp& body, const std::vector<UOp>& loops) {
  std::vector<UOp> src{body};
  src.insert(src.end(), loops.begin(), loops.end());
  return loops.empty() ? body : with_sources(closer, src);
}

// Returns the BUFFER with another id.
inline UOp buffer_like(const Node* buffer, UniqueId id) {
  BufferArg arg = buffer->arg<BufferArg>();
  arg.id = id;
  return make(Op::Buffer, list_of(buffer->src()), buffer->dtype(), arg);
}

}  // namespace weft
