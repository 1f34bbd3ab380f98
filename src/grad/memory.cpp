// Reads backwards are writes and writes are reads: a gather's gradient adds into the places that
// were read, a store's is gathered from those that were written. And what moves between devices.

#include <weft/dev/ir/memory.h>

#include <algorithm>

#include <fmt/core.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/ir/multi.h>
#include <weft/error.h>

#include "rules.h"

namespace weft {
namespace {

// New memory of the tensor's shape. Without REMAT's id, equal ones would be one node, and what one
// user stores the other would find.
UOp fresh_storage(const UOp& value, const UOp& like) {
  const UOp values = filled(value, sizes_of(like));
  return make(Op::Contiguous, {make(Op::Remat, {values}, {}, IdArg{fresh_id()})});
}

bool is_view(const UOp& place) { return info(place->op()).cls == OpClass::Movement; }

// The storage that a place lies in: an element of it by an INDEX, or a part by movement.
UOp whole_of(UOp place) {
  if (place->op() == Op::Index) return place.src(0);
  while (is_view(place)) place = place.src(0);
  return place;
}

// The same places in other storage.
UOp same_places(const UOp& place, const UOp& storage) {
  if (place->op() != Op::Index) return rebased(place, whole_of(place), storage);
  std::vector<UOp> src(place->src().begin(), place->src().end());
  src[0] = storage;
  return make(Op::Index, src);
}

UOp store(const UOp& place, const UOp& value, bool combine) {
  return make(Op::Store, {place, value}, {}, StoreArg{combine, Op::Add});
}

bool is_in_parts(const Node* place) { return OpSet{Op::Shard, Op::Multi}.contains(place->op()); }

bool is_split(const Node* place) { return is_in_parts(place) && place->arg<ShardArg>().axis >= 0; }

bool writes(const UOp& effect, const UOp& storage) {
  return effect->op() == Op::Store &&
         storage_of(whole_of(effect.src(0)).node()) == storage_of(storage.node());
}

}  // namespace

Gradients of_load(const GradientStep& step) {
  if (step.b.is_null()) return {step.g};
  const UOp valid = step.a.src(1);
  return {step.g, where(valid, const_int(0, step.g->dtype()), step.g)};
}

Gradients of_index(const GradientStep& step) {
  const DType own = step.a->dtype();
  // One more than 256 in bf16 is 256.
  const DType within = own.is_float() && own.bytes() < 4 ? dtypes::f32 : own;
  const UOp zeros = fresh_storage(const_int(0, within), step.a);
  if (has_no_elements(zeros)) return {cast(zeros, own)};
  const UOp added = store(same_places(step.y, zeros), cast(step.g, within), true);
  return {cast(make(Op::After, {zeros, added}), own)};
}

// Which of the elements of a place are there in the end: of several for one element of the storage, the last. A store of
// their numbers says it.
UOp is_last(const UOp& place, const UOp& like) {
  const Sizes sizes = sizes_of(place);
  UOp count = const_int(1);
  for (const UOp& size : sizes) count = count * size;
  const DType dtype = count->bounds().hi > INT32_MAX ? dtypes::i64 : dtypes::i32;
  const UOp numbers = reshape(counted(count, dtype), sizes);
  const UOp none = fresh_storage(const_int(-1, dtype), like);
  const UOp last = make(Op::After, {none, store(same_places(place, none), numbers, false)});
  return make(Op::Load, {same_places(place, last)}) == numbers;
}

// g is the gradient of the storage once it is written.
Gradients of_store(const GradientStep& step) {
  const auto& arg = step.y->arg<StoreArg>();
  if (arg.combine && arg.op != Op::Add)
    user_error(fmt::format("gradient: a store that combines by {} has none, only by add",
                           info(arg.op).name));
  if (step.a->op() != Op::Index) return {{}, same_places(step.a, step.g)};
  const UOp written = make(Op::Contiguous, {step.g});
  const UOp gradient = make(Op::Load, {same_places(step.a, written)});
  if (arg.combine) return {{}, gradient};
  return {{}, where(is_last(step.a, whole_of(step.a)), gradient, const_int(0, gradient->dtype()))};
}

// What was there before counts wherever no store has put something else.
Gradients of_after(const GradientStep& step) {
  Gradients gradients{step.g};
  const UOp is_kept = fresh_storage(const_bool(true), step.a);
  std::vector<UOp> marks{is_kept};
  bool is_replaced = false;
  for (const Node* source : step.y->src().subspan(1)) {
    const UOp effect(source);
    const bool is_write = writes(effect, step.a);
    gradients.push_back(is_write ? step.g : UOp());
    if (!is_write || effect->arg<StoreArg>().combine) continue;
    const UOp place = effect.src(0);
    if (place.is(whole_of(place))) is_replaced = true;
    marks.push_back(store(same_places(place, is_kept), const_bool(false), false));
  }
  if (is_replaced)
    gradients[0] = {};
  else if (marks.size() > 1)
    gradients[0] = where(make(Op::After, marks), step.g, const_int(0, step.g->dtype()));
  return gradients;
}

Gradients of_copy(const GradientStep& step) {
  std::vector<UOp> members = members_of(step.g);
  for (UOp& member : members)
    if (!member.is_null()) member = step.placement.bring(member, step.a.node());
  return {step.g->dtype().is_void() ? list_of(members) : members[0]};
}

// Each device's part goes back there.
Gradients of_multi(const GradientStep& step) {
  const Layout layout = Layout::of(step.y.node());
  Gradients gradients;
  Sizes start(step.y->dims().size(), const_int(0));
  for (std::size_t i = 0; i < step.y->size(); ++i) {
    gradients.emplace_back();
    if (!step.wants(i)) continue;
    if (layout.is_split())
      start[static_cast<std::size_t>(layout.axis)] = const_int(layout.bounds[i]);
    const UOp part = shrink(step.g, start, sizes_of(step.y.src(i)));
    gradients[i] = step.placement.bring(part, step.y->src(i));
    if (!layout.is_split()) break;  // the parts are equal: one is the tensor
  }
  return gradients;
}

const Node* GradientPlacement::of(const Node* node) {
  if (!is_found_)
    for (const Node* each : order_) known_.set(each, find(each));
  is_found_ = true;
  return *known_.find(node);
}

// All sources of an op are in one place, as far as they have one.
const Node* GradientPlacement::find(const Node* node) const {
  if (OpSet{Op::Buffer, Op::Copy, Op::Shard, Op::Multi}.contains(node->op())) return node;
  if (node->op() == Op::AllReduce) return nullptr;  // on all the devices of its shards
  for (const Node* source : node->src()) {
    const Node* place = *known_.find(source);
    if (place == nullptr) continue;
    // Which axis is split only elementwise ops leave as it is.
    if (!is_split(place) || is_elementwise(node->op())) return place;
  }
  return nullptr;
}

UOp GradientPlacement::bring(const UOp& value, const Node* node) {
  const Node* place = of(node);
  if (place == nullptr) return value;
  if (is_in_parts(place)) return make(Op::Shard, {value}, {}, place->arg<ShardArg>());
  if (place->op() == Op::Copy) return with_sources(UOp(place), {value});
  const Symbol device = place->arg<BufferArg>().device;
  return device.empty() ? value : make(Op::Copy, {value}, {}, DeviceArg{device});
}

}  // namespace weft
