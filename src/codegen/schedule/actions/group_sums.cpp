// Two-stage reductions in a work-group: each item reduces iterations of its own, and then every
// item reduces the partial results of all items.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/slice.h>
#include <weft/error.h>

#include "groups.h"
#include "kernel_loops.h"
#include "stores.h"

namespace weft {
namespace {

bool is_item(const Node* range) { return range->arg<RangeArg>().kind == LoopKind::Local; }

// Masks a store so that only the first item along a loop executes it, since all items have the same
// value.
UOp stored_by_first(const Node* store, const UOp& item) {
  if (store->op() != Op::Store) refuse_other_loops("work-item");
  std::vector<UOp> place = list_of(store->src(0)->src()), src = list_of(store->src());
  place[1] = place[1] & (item < 1);
  src[0] = make(Op::Index, place);
  return with_sources(UOp(store), src);
}

// Returns the loops of a reduction other than `own`. Refuses a second loop that items share.
std::vector<UOp> others_of(const Node* reduce, const Node* own) {
  std::vector<UOp> others;
  for (const Node* range : reduce->src().subspan(1)) {
    if (range == own) continue;
    if (is_item(range)) user_error("schedule: work-items share two loops of one reduction");
    others.emplace_back(range);
  }
  return others;
}

}  // namespace

void KernelLoops::group(const Action& action) {
  if (closer_of(loop(action.name))->op() != Op::Reduce)
    refuse(action, "it is not a loop of a reduction");
  tile(action);
  set_kind(
      {.type = Action::Kind, .name = order_[position(action.name) + 1], .kind = LoopKind::Local});
}

// A reduction inside another one has other values in each iteration of that, which items share.
void KernelLoops::refuse_nested_sharing() const {
  const std::vector<UOp> items = this->items();
  for (const UOp& own : items)
    for (const UOp& other : items)
      if (closer_of(own.node())->op() == Op::Reduce &&
          closer_of(other.node())->op() == Op::Reduce &&
          closer_of(own.node()) != closer_of(other.node()) &&
          changes_with(closer_of(own.node()), other.node()))
        user_error("schedule: work-items share a reduction inside of one that they share");
}

void KernelLoops::share_reductions() {
  refuse_nested_sharing();
  for (const std::string& name : std::vector(order_))
    if (const UOp range = loops_.find(name)->second;
        is_item(range.node()) && closer_of(range.node())->op() == Op::Reduce)
      share_reduction(name, range);
}

// The work-items of an output loop of the same length that no shared reduction changes with: they
// can share the reductions before they run that loop. Null where there is none.
UOp KernelLoops::output_items_for(const UOp& own) const {
  const std::vector<UOp> items = this->items();
  const auto changes_reduction = [&](const UOp& item, const UOp& other) {
    const Node* closer = closer_of(other.node());
    return closer->op() == Op::Reduce && changes_with(closer, item.node());
  };
  for (const UOp& item : items) {
    const auto changes = [&](const UOp& other) { return changes_reduction(item, other); };
    if (item->src(0) == own->src(0) && closer_of(item.node())->op() == Op::End &&
        std::ranges::none_of(items, changes))
      return item;
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
  std::vector<UOp> at = items();
  std::erase_if(at, [&](const UOp& item) {
    return item.node() == sharing_.node() || closer_of(item.node())->op() == Op::Reduce;
  });
  const UOp body = substitute(UOp(reduce->src(0)), {{own.node(), sharing_}});
  const std::vector<UOp> others = others_of(reduce, own.node());
  std::vector<UOp> src{body};
  src.insert(src.end(), others.begin(), others.end());
  const UOp part = others.empty() ? body : with_sources(UOp(reduce), src);
  const UOp each = weft::range(UOp(own->src(0)), fresh_id().value, LoopKind::Reduce);
  at.push_back(sharing_);
  const SharedMemory memory(at, part->dtype(), iterations_around(part, {}));
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
  std::vector<UOp> stores, src{UOp()};
  for (const Node* store : has_loops ? stores_of(root) : kernel_->src())
    stores.push_back(stored_by_first(store, sharing_));
  src[0] = stores.size() == 1 ? stores[0] : tuple(stores);
  if (has_loops)
    for (const Node* range : root->src().subspan(1)) src.emplace_back(range);
  src.push_back(sharing_);
  kernel_ = with_sources(kernel_, {make(Op::End, src)});
  const auto is_workers = [&](const std::string& other) {
    return is_parallel(loop(other)->arg<RangeArg>().kind);
  };
  order_.insert(std::ranges::find_if_not(order_, is_workers), name);
}

}  // namespace weft
