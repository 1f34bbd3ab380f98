// Two-stage reductions in a work-group: each item reduces iterations of its own, and then every
// item reduces the partial results of all items.

#include <algorithm>

#include <fmt/format.h>
#include <weft/dev/codegen/filled.h>
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

void KernelLoops::share_reductions() {
  for (const std::string& name : std::vector(order_))
    if (const UOp range = loops_.find(name)->second;
        is_item(range.node()) && closer_of(range.node())->op() == Op::Reduce)
      share_reduction(name, range);
}

// Turns the reduction's loop into an output loop, so that each item runs the whole kernel. All
// shared reductions use this one loop (`sharing_`), since each item takes part in all of them.
void KernelLoops::share_reduction(const std::string& name, const UOp& own) {
  const Node* reduce = closer_of(own.node());
  if (reduce->src(0)->op() == Op::Tuple)
    user_error(fmt::format("schedule: work-items share {}, which reduces a tuple", name));
  const bool is_first = sharing_.is_null();
  if (is_first) sharing_ = own;
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
  if (is_first) add_sharing(name);
}

// Makes the shared loop an output loop, outside of all others except parallel ones.
void KernelLoops::add_sharing(const std::string& name) {
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
