// Shared memory of a work-group, and the barriers that synchronise access to it.
#pragma once

#include "fills.h"

namespace weft {

inline UOp group_barrier(const std::vector<UOp>& what) {
  return make(Op::Barrier, what, {}, ScopeArg{Scope::Group});
}

// Returns the loops around a value, except `own` and parallel ones.
inline std::vector<UOp> iterations_around(const UOp& value, const std::vector<UOp>& own = {}) {
  std::vector<UOp> around = loops_outside(value.node(), nodes_of(own));
  std::erase_if(around, [](const UOp& range) { return is_parallel(kind_of(range.node())); });
  return around;
}

// A shared buffer that is filled in each iteration of the loops around it. Items fill it once all
// have read its previous contents, and read it once all have filled it.
class SharedMemory {
 public:
  SharedMemory(const std::vector<UOp>& dims, DType dtype, const std::vector<UOp>& around)
      : buffer_(memory_for(dims, dtype, Space::Shared)),
        begin_(around.empty() ? buffer_ : make(Op::After, {buffer_, group_barrier(around)})) {}

  const UOp& begin() const { return begin_; }
  UOp after(const UOp& filled) const { return make(Op::After, {buffer_, group_barrier({filled})}); }

 private:
  UOp buffer_, begin_;
};

}  // namespace weft
