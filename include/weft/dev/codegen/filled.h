// Builds buffers inside a kernel, and the accesses and stores that fill them.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

inline std::vector<UOp> list_of(NodeList nodes) { return {nodes.begin(), nodes.end()}; }

// Returns an op over `first` and `rest`, or `first` itself if `rest` is empty.
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

// Returns a new BUFFER with a dimension for each range.
inline UOp memory_for(const std::vector<UOp>& ranges, DType dtype, Space space) {
  std::vector<UOp> sizes;
  for (const UOp& range : ranges) sizes.push_back(range.src(0));
  return make(Op::Buffer, sizes, dtype, BufferArg{fresh_id(), space});
}

}  // namespace weft
