// Memory of a kernel's own that loops fill, and places in it.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

inline std::vector<UOp> list_of(NodeList nodes) { return {nodes.begin(), nodes.end()}; }

// An op over a node and a list; the node alone where the list is empty.
inline UOp with_list(Op op, const UOp& first, const std::vector<UOp>& rest) {
  std::vector<UOp> src{first};
  src.insert(src.end(), rest.begin(), rest.end());
  return rest.empty() ? first : make(op, src);
}

inline UOp place_in(const UOp& buffer, const std::vector<UOp>& at) {
  std::vector<UOp> src{buffer, const_bool(true)};
  src.insert(src.end(), at.begin(), at.end());
  return make(Op::Index, src);
}

inline UOp store_at(const UOp& place, const UOp& value) {
  return make(Op::Store, {place, value}, {}, StoreArg{});
}

// As many elements as the ranges have iterations.
inline UOp memory_for(const std::vector<UOp>& ranges, DType dtype, Space space) {
  std::vector<UOp> sizes;
  for (const UOp& range : ranges) sizes.push_back(range.src(0));
  return make(Op::Buffer, sizes, dtype, BufferArg{fresh_id(), space});
}

}  // namespace weft
