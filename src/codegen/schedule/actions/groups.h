// Memory that the items of a work-group share, and where they wait for one another.
#pragma once

#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/slice.h>

namespace weft {

inline UOp group_barrier(const std::vector<UOp>& what) {
  return make(Op::Barrier, what, {}, ScopeArg{Scope::Group});
}

// The loops around a value, without its own and those that workers share.
std::vector<UOp> iterations_around(const UOp& value, const std::vector<UOp>& own);

// In each iteration of the loops around, it is filled when all items have read what it held before, and read
// when all have filled it.
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
