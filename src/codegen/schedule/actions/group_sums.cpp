// Two-stage reductions in a work-group: each item reduces iterations of its own, and then every
// item reduces the partial results of all items.

#include <algorithm>

#include <fmt/format.h>
#include <weft/error.h>

#include "common/loops.h"
#include "groups.h"
#include "kernel_loops.h"
#include "stores.h"

namespace weft {
namespace {

// Masks a store so that only the first item along a loop executes it, since all items have the same
// value.
UOp stored_by_first(const Node* store, const UOp& item) {
  if (store->op() != Op::Store) refuse_other_loops("work-item");
  std::vector<UOp> place = list_of(store->src(0)->src());
  place[1] = place[1] & (item < 1);
  return with_first_source(UOp(store), make(Op::Index, place));
}

// Returns the loops of a reduction other than `own`. Refuses a second loop that items share.
std::vector<UOp> others_of(const Node* reduce, const Node* own) {
  std::vector<UOp> others;
  for (const Node* range : reduce->src().subspan(1)) {
    if (range == own) continue;
    if (kind_of(range) == LoopKind::Local)
      user_error("schedule: work-items share two loops of one reduction");
    others.emplace_back(range);
  }
  return others;
}

}  // namespace

void KernelLoops::group(const Action& action) {
  if (closer_of(loop(action.name))->op() != Op::Reduce)
    refuse(action, "it is not a loop of a reduction");
  tile(action);
  set_kind(order_[position(action.name) + 1], LoopKind::Local);
}

std::vector<UOp> KernelLoops::items_closed_by(Op op) const {
  std::vector<UOp> closed = items();
  std::erase_if(closed, [&](const UOp& item) { return closer_of(item.node())->op() != op; });
  return closed;
}

// A reduction inside another one has other values in each iteration of that, which items share.
void KernelLoops::share_reductions() {
  const std::vector<UOp> shared = items_closed_by(Op::Reduce);
  for (const UOp& own : shared)
    for (const UOp& other : shared)
      if (changes_with(closer_of(own.node()), other.node()))
        user_error("schedule: work-items share a reduction inside of one that they share");
  for (const UOp& own : shared) share_reduction(std::string(name_of(own.node())), own);
}

// The work-items of an output loop of the same length that no shared reduction changes with: they
// can share the reductions before they run that loop. Null where there is none.
UOp KernelLoops::output_items_for(const UOp& own) const {
  const std::vector<UOp> shared = items_closed_by(Op::Reduce);
  for (const UOp& item : items_closed_by(Op::End)) {
    const auto changes = [&](const UOp& other) {
      return changes_with(closer_of(other.node()), item.node());
    };
    if (item->src(0) == own->src(0) && std::ranges::none_of(shared, changes)) return item;
  }
  return {};
}

// Turns the reduction's loop into an output loop, so that each item runs the whole kernel. All
// shared reductions use this one loop (`sharing_`), since each item takes part in all of them.
void KernelLoops::share_reduction(const std::string& name, const UOp& own) {
  const Node* reduce = closer_of(own.node());
  if (reduce->src(0)->op() == Op::Tuple)
    user_error(fmt::format("schedule: work-items share {}, which reduces a tuple", name));
  const bool is_first = sharing_.is_null();
  const UOp existing = is_first ? output_items_for(own) : UOp();
  if (is_first) sharing_ = existing.is_null() ? own : existing;
  if (sharing_->src(0) != own->src(0))
    user_error(fmt::format("schedule: {} work-items share {}, but {} share another reduction",
                           own->src(0)->lo(), name, sharing_->src(0)->lo()));
  std::vector<UOp> at = items_closed_by(Op::End);
  std::erase_if(at, [&](const UOp& item) { return item.is(sharing_); });
  const UOp body = substitute(UOp(reduce->src(0)), {{own.node(), sharing_}});
  const UOp part = closed_over(UOp(reduce), body, others_of(reduce, own.node()));
  const UOp each = weft::range(UOp(own->src(0)), fresh_id().value, LoopKind::Reduce);
  at.push_back(sharing_);
  const SharedMemory memory(at, part->dtype(), iterations_around(part));
  const UOp filled = store_at(place_in(memory.begin(), at), part);
  at.back() = each;
  const UOp found = make(Op::Load, {place_in(memory.after(filled), at)});
  replace(reduce, with_sources(UOp(reduce), {found, each}));
  loops_[name] = sharing_;
  std::erase(order_, name);
  if (is_first && existing.is_null()) add_shared_loop(name);
}

// Makes the shared loop an output loop, outside of all others except parallel ones.
void KernelLoops::add_shared_loop(const std::string& name) {
  const Node* root = kernel_->src(0);
  if (kernel_->size() != 1) refuse_other_loops("work-item");
  const bool has_loops = root->op() == Op::End;
  std::vector<UOp> stores, loops = list_of(has_loops ? root->src().subspan(1) : NodeList{});
  for (const Node* store : has_loops ? stores_of(root) : kernel_->src())
    stores.push_back(stored_by_first(store, sharing_));
  loops.push_back(sharing_);
  kernel_ = with_sources(
      kernel_, {with_list(Op::End, stores.size() == 1 ? stores[0] : tuple(stores), loops)});
  const auto is_workers = [&](const std::string& other) {
    return is_parallel(kind_of(loop(other)));
  };
  order_.insert(std::ranges::find_if_not(order_, is_workers), name);
}

}  // namespace weft
