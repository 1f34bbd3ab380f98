// Assignment: a new version of the memory, which all tensors that look at it see on their next use. What
// was computed from the old version stays what it was.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/schedule/shards.h>
#include <weft/error.h>

#include "ops.h"
#include "state.h"

namespace weft {
namespace {

// Where one element of memory is seen in several places, or in none, there is nowhere to put a value.
void want_places(const UOp& view, const UOp& root) {
  for (UOp node = view; !node.is(root); node = node.src(0))
    if (node->op() == Op::Expand)
      user_error(
          fmt::format("assign: several elements of this tensor of shape {} are one in memory, as "
                      "expand() makes "
                      "them: assign to its contiguous()",
                      shape_text(view)));
}

// The whole tensor with the value in the view, put together on each of its devices.
UOp written_whole(const UOp& view, const UOp& root, const UOp& value, Symbol devices) {
  const UOp whole = make(Op::Shard, {root}, {}, ShardArg{-1, devices});
  const UOp memory = make(Op::Contiguous, {make(Op::Remat, {whole}, {}, IdArg{fresh_id()})});
  const UOp place = rebased(view, root, memory);
  return make(Op::After, {memory, make(Op::Store, {place, value}, {}, StoreArg{})});
}

// What an operator gave, for the tensor to hold.
Tensor fitting(const Tensor& own, const Tensor& value) {
  want_held("assign", own.dtype(), value.uop());
  return value;
}

}  // namespace

void want_held(std::string_view op, DType dtype, const UOp& value) {
  const DType from = value->dtype();
  if (dtype.is_float() || from == dtype) return;
  if (value->is_const()) {
    const Bits bits = value->arg<ConstArg>().bits;
    if (convert(convert(bits, from, dtype), dtype, from) == bits) return;
  } else if (!from.is_float() && !dtype.is_bool()) {
    return;
  }
  user_error(fmt::format("{}: a tensor of {} does not hold {}: cast() it first", op, dtype.str(),
                         value->is_const() ? expression_text(value.node()) : from.str()));
}

Tensor& Tensor::assign(const Operand& value) {
  const Called called;
  const UOp view = uop();
  want_places(view, state_->root);
  const Symbol device = state_->storage->device();
  if (!value.device.empty() && value.device != device)
    user_error(fmt::format("assign: the tensor is on {}, the value on {}: move it with {}",
                           device.get(), value.device.get(),
                           are_several(device.get()) ? "shard()" : "to()"));
  const Sizes sizes = sizes_of(view);
  UOp graph = converted(value.uop(), view->dtype());
  if (!std::ranges::equal(broadcast_sizes("assign", {view, graph}), sizes, {}, &UOp::node,
                          &UOp::node))
    user_error(fmt::format("assign: a value of shape {} does not fit a tensor of shape {}",
                           shape_text(value.uop()), shape_text(view)));
  if (graph->shape() == nullptr) graph = reshaped(graph, Sizes(sizes.size(), const_int(1)));
  graph = broadcast("assign", graph, sizes);
  const bool tracked = value.tracked && !NoGrad::is_on() && !state_->leaf;
  UOp place = view;
  if (are_several(device.get()) && !stays_in_parts(view, state_->root)) {
    state_->storage->own();  // so that the parts stay where they are
    const UOp owned = uop();
    graph = written_whole(owned, state_->root, graph, device);
    place = state_->root;
  }
  if (state_->leaf) graph = make(Op::Detach, {graph});
  state_->storage->assign(place, state_->root, graph, tracked);
  return *this;
}

Tensor& Tensor::fill(Scalar value) {
  const Called called;
  const Operand number = value_of(value);
  want_held("fill", dtype(), number.uop());
  return assign(number);
}

Tensor& Tensor::replace(const Tensor& other) {
  const Called called;
  if (uop()->shape() != other.uop()->shape())
    user_error(fmt::format("replace: a tensor of shape {} for one of shape {}",
                           shape_text(other.uop()), shape_text(uop())));
  return *this = other;
}

Tensor& Tensor::operator+=(const Operand& other) {
  return Called("+="), assign(fitting(*this, *this + other));
}
Tensor& Tensor::operator-=(const Operand& other) {
  return Called("-="), assign(fitting(*this, *this - other));
}
Tensor& Tensor::operator*=(const Operand& other) {
  return Called("*="), assign(fitting(*this, *this * other));
}
Tensor& Tensor::operator/=(const Operand& other) {
  return Called("/="), assign(fitting(*this, *this / other));
}
Tensor& Tensor::operator%=(const Operand& other) {
  return Called("%="), assign(fitting(*this, *this % other));
}
Tensor& Tensor::operator&=(const Operand& other) {
  return Called("&="), assign(fitting(*this, *this & other));
}
Tensor& Tensor::operator|=(const Operand& other) {
  return Called("|="), assign(fitting(*this, *this | other));
}
Tensor& Tensor::operator^=(const Operand& other) {
  return Called("^="), assign(fitting(*this, *this ^ other));
}
Tensor& Tensor::operator<<=(const Operand& other) {
  return Called("<<="), assign(fitting(*this, *this << other));
}
Tensor& Tensor::operator>>=(const Operand& other) {
  return Called(">>="), assign(fitting(*this, *this >> other));
}
Tensor& Tensor::ifloordiv(const Operand& other) {
  return Called(), assign(fitting(*this, floordiv(other)));
}
Tensor& Tensor::ipow(const Operand& exponent) {
  return Called(), assign(fitting(*this, pow(exponent)));
}
Tensor& Tensor::imatmul(const Tensor& other) {
  return Called(), assign(fitting(*this, matmul(other)));
}

}  // namespace weft
