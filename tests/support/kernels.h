// The parts of a kernel, to write one by hand.
#pragma once

#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

inline UOp size(std::int64_t value) { return const_int(value); }
inline UOp param(int slot, Access access, const std::vector<UOp>& dims, DType dtype = dtypes::f32) {
  return make(Op::Param, dims, dtype, ParamArg{slot, access, 0});
}
inline UOp worker(LoopKind kind, std::int64_t count, std::int32_t axis = 0) {
  return make(Op::Special, {size(count)}, {}, SpecialArg{kind, axis});
}
inline UOp thread(std::int64_t count) { return worker(LoopKind::Thread, count); }
inline UOp group_barrier(const std::vector<UOp>& what) {
  return make(Op::Barrier, what, {}, ScopeArg{Scope::Group});
}
inline UOp place(const UOp& buffer, std::vector<UOp> indices, const UOp& valid = const_bool(true)) {
  indices.insert(indices.begin(), {buffer, valid});
  return make(Op::Index, indices);
}
inline UOp load(const UOp& place) { return make(Op::Load, {place}); }
inline UOp put(const UOp& place, const UOp& value) {
  return make(Op::Store, {place, value}, {}, StoreArg{});
}
inline UOp add_to(const UOp& place, const UOp& value) {
  return make(Op::Store, {place, value}, {}, StoreArg{true, Op::Add});
}
inline UOp reduce(Op op, const std::vector<UOp>& src) {
  return make(Op::Reduce, src, {}, ReduceArg{op, {}});
}
inline UOp over(const UOp& effect, std::vector<UOp> ranges) {
  ranges.insert(ranges.begin(), effect);
  return make(Op::End, ranges);
}
inline UOp member(const UOp& list, std::int32_t at, DType dtype) {
  return make(Op::GetTuple, {list}, dtype, PositionArg{at});
}

}  // namespace weft
