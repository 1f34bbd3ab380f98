// Functions that build vector values, shared by the vector passes.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/ir/uop.h>
#include <weft/error.h>

namespace weft {

inline UOp splat(const UOp& value, std::uint32_t lanes) {
  if (value->dtype().lanes() == lanes) return value;
  if (value->dtype().lanes() != 1)
    user_error("values of different VECTOR ranges meet: one of them has to be a loop");
  const DType dtype = value->dtype().vec(lanes);
  return value->is_const() ? const_bits(dtype, value->arg<ConstArg>().bits)
                           : make(Op::Splat, {value}, dtype);
}

// Returns a STACK of the lane numbers times the stride.
inline UOp lane_numbers(std::uint32_t lanes, DType dtype, std::int64_t stride = 1) {
  std::vector<UOp> numbers;
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(const_int(lane * stride, dtype));
  return make(Op::Stack, numbers);
}

// Returns the indices first + stride * lane.
inline UOp lanes_from(const UOp& first, std::uint32_t lanes, std::int64_t stride = 1) {
  const DType dtype = first->dtype();
  return make(Op::Splat, {first}, dtype.vec(lanes)) + lane_numbers(lanes, dtype, stride);
}
// The same without the sum if `first` is 0.
inline UOp short_lanes_from(const UOp& first, std::uint32_t lanes, std::int64_t stride = 1) {
  return first->is_const_int(0) ? lane_numbers(lanes, first->dtype(), stride)
                                : lanes_from(first, lanes, stride);
}

// Returns the op of the node on other sources, which have so many lanes.
inline UOp on_lanes(const Node* node, const std::vector<UOp>& src, std::uint32_t lanes) {
  const OpInfo& op = info(node->op());
  return make_uop(node->op(), src,
                  op.dtype == DTypeRule::Given ? node->dtype().vec(lanes) : DType(), op.arg,
                  node->arg_bytes());
}

inline UOp lane(const UOp& vector, std::int64_t at) {
  return make(Op::Lane, {vector}, {}, PositionArg{static_cast<std::int32_t>(at)});
}

// Shuffles a vector: lane i of the result is lane from(i) of the value.
template <class From>
UOp shuffled(const UOp& value, std::uint32_t lanes, From from) {
  std::vector<UOp> result;
  for (std::uint32_t i = 0; i < lanes; ++i) result.push_back(lane(value, from(i)));
  return make(Op::Stack, result);
}

}  // namespace weft
