#include "kernel_loops.h"
#include "stores.h"

#include <algorithm>
#include <ranges>
#include <set>

#include <fmt/format.h>
#include <weft/dev/ir/memory.h>
#include <weft/error.h>

#include "common/loops.h"
#include "fills.h"

namespace weft {

void refuse(const Action& action, std::string_view why) {
  user_error(fmt::format("schedule: '{}': {}", to_string({action}), why));
}

void check_sizes(const Action& action, NodeList loops) {
  if (!std::ranges::all_of(loops, [](auto range) { return range->src(0)->is_const(); }))
    refuse(action, "a size is not a constant");
}

void refuse_other_loops(std::string_view worker) {
  user_error(fmt::format(
      "schedule: the kernel has loops beside the parallel ones, and each {} would run them",
      worker));
}

std::vector<NamedLoop> loops_of_kernel(const Node* kernel) {
  std::vector<NamedLoop> loops;
  const auto add = [&](char letter, std::size_t& count, const Node* closer) {
    for (const Node* range : closer->src().subspan(1))
      loops.push_back({fmt::format("{}{}", letter, count++), range});
  };
  std::size_t outer = 0, inner = 0, filling = 0;
  for (const Node* effect : kernel->src())
    if (effect->op() == Op::End) add('r', outer, effect);
  for (const Node* node : toposort(kernel)) {
    if (node->op() == Op::Reduce) add('k', inner, node);
    if (node->op() == Op::End && !has_node(kernel->src(), node)) add('s', filling, node);
  }
  return loops;
}

namespace {

// Returns the reads of params that depend only on the given loops. Other reads are part of a STAGE
// or of the remainder of a tile.
std::vector<NamedRead> reads_within(const Node* kernel, const std::vector<NamedLoop>& loops) {
  NodeMap<bool> known;
  for (const NamedLoop& loop : loops) known.set(loop.range, true);
  std::map<std::int32_t, std::vector<const Node*>> by_slot;
  for (const Node* node : toposort(kernel)) {
    if (node->op() != Op::Load) continue;
    const Node* storage = storage_of(node->src(0)->src(0));
    const bool is_within =
        std::ranges::all_of(node->ranges(), [&](auto range) { return known.contains(range); });
    if (storage->op() == Op::Param && is_within)
      by_slot[storage->arg<ParamArg>().slot].push_back(node);
  }
  std::vector<NamedRead> reads;
  for (const auto& [slot, loads] : by_slot)
    for (std::size_t i = 0; i < loads.size(); ++i)
      reads.push_back(
          {loads.size() == 1 ? fmt::format("p{}", slot) : fmt::format("p{}.{}", slot, i),
           loads[i]});
  return reads;
}

}  // namespace

std::vector<NamedRead> reads_of_kernel(const Node* kernel) {
  return reads_within(kernel, loops_of_kernel(kernel));
}

std::vector<NamedRead> KernelLoops::reads() const { return reads_within(kernel_.node(), names()); }

// The loops of a user come before those of its sources: the user either encloses them or runs after
// them.
KernelLoops::KernelLoops(const UOp& kernel) : kernel_(kernel) {
  NodeMap<const std::string*> names;
  for (const auto& [name, range] : loops_of_kernel(kernel.node()))
    names.set(range, &loops_.emplace(name, UOp(range)).first->first);
  const auto add = [&](const Node* closer) {
    for (const Node* range : closer->src().subspan(1))
      if (const auto* name = names.find(range)) order_.push_back(**name);
  };
  for (const Node* effect : kernel->src())
    if (effect->op() == Op::End) add(effect);
  for (const Node* closer : closers() | std::views::reverse)
    if (!has_node(kernel->src(), closer)) add(closer);
}

const Node* KernelLoops::loop(std::string_view name) const {
  const auto found = loops_.find(name);
  if (found == loops_.end())
    user_error(fmt::format("schedule: the kernel has no loop '{}'; it has {}", name,
                           fmt::join(order_, " ")));
  return found->second.node();
}

KernelLoops::LoopIterator KernelLoops::find_loop(const Node* range) const {
  return std::ranges::find(order_, range, [&](const std::string& name) { return loop(name); });
}

std::size_t KernelLoops::position(std::string_view name) const {
  loop(name);
  return static_cast<std::size_t>(std::ranges::find(order_, name) - order_.begin());
}

std::vector<const Node*> KernelLoops::closers() const {
  std::vector<const Node*> result;
  for (const Node* node : toposort(kernel_.node()))
    if (OpSet{Op::End, Op::Reduce, Op::Stage}.contains(node->op()) && node->size() > 1)
      result.push_back(node);
  return result;
}

const Node* KernelLoops::closer_of(const Node* range) const {
  for (const Node* node : closers())
    if (has_node(node->src().subspan(1), range)) return node;
  internal_error("schedule: nothing closes a loop of the kernel");
}

bool KernelLoops::comes_before(const Node* range, const Node* other) const {
  const LoopIterator second = find_loop(other);
  return second != order_.end() && find_loop(range) < second;
}

std::vector<const Node*> KernelLoops::loops_where(
    const std::function<bool(const Node*)>& test) const {
  std::vector<const Node*> loops;
  for (const std::string& name : order_)
    if (const Node* range = loop(name); test(range)) loops.push_back(range);
  return loops;
}

std::string KernelLoops::free_name(std::string_view prefix, int number) const {
  while (loops_.contains(fmt::format("{}{}", prefix, number))) ++number;
  return fmt::format("{}{}", prefix, number);
}

KernelLoops::LoopIterator KernelLoops::add_loop(LoopIterator at, const std::string& name,
                                                const UOp& range) {
  loops_.emplace(name, range);
  return order_.insert(at, name);
}

void KernelLoops::reorder(const Action& action) {
  std::set<std::size_t> places;
  for (const std::string& name : action.loops)
    if (!places.insert(position(name)).second) refuse(action, name + " is named twice");
  auto next = action.loops.begin();
  for (std::size_t place : places) order_[place] = *next++;
}

void KernelLoops::swap(const Action& action) {
  std::swap(order_[position(action.loops[0])], order_[position(action.loops[1])]);
}

void KernelLoops::sort(const Node* closer) {
  std::vector<UOp> loops = list_of(closer->src().subspan(1));
  std::ranges::sort(loops, [&](auto& a, auto& b) { return comes_before(a.node(), b.node()); });
  replace(closer, closed_over(UOp(closer), UOp(closer->src(0)), loops));
}

namespace {

// A kind of workers that share the iterations of a loop, and how many such loops a launch has.
struct Workers {
  LoopKind kind;
  std::string_view one, all;
  std::size_t axes;
};
constexpr Workers known_workers[] = {{LoopKind::Thread, "thread", "threads", 1},
                                     {LoopKind::Global, "work-group", "work-groups", 3},
                                     {LoopKind::Local, "work-item", "work-items", 3}};

const Workers* workers_of(const Node* range) {
  const auto* found = std::ranges::find(known_workers, kind_of(range), &Workers::kind);
  return found == std::end(known_workers) ? nullptr : found;
}

}  // namespace

// Every worker runs the whole kernel. The loops of workers are therefore outside of all others, and
// those of work-groups outside of those of work-items.
void KernelLoops::check_workers() const {
  std::vector<const Workers*> seen;  // those of each loop so far
  for (const std::string& name : order_) {
    const Node* range = loop(name);
    const Workers* workers = workers_of(range);
    seen.push_back(workers);
    if (workers == nullptr) continue;
    const auto stands_inside = [&](const Workers* outer) {
      return outer == nullptr || outer->kind > workers->kind;
    };
    if (std::ranges::any_of(seen, stands_inside))
      user_error(fmt::format("schedule: {} split {}, which is not the outermost loop", workers->all,
                             name));
    if (workers->kind != LoopKind::Thread && seen[0]->kind == LoopKind::Thread)
      user_error(fmt::format("schedule: {} split {}, but threads split the outermost loop",
                             workers->all, name));
    if (static_cast<std::size_t>(std::ranges::count(seen, workers)) > workers->axes)
      user_error(fmt::format("schedule: {} split {}, but they can split at most {} of the loops",
                             workers->all, name, workers->axes));
    if (kernel_->size() != 1 || closer_of(range) != kernel_->src(0))
      refuse_other_loops(workers->one);
    if (!writes_are_disjoint(kernel_->src(0), range))
      user_error(fmt::format("schedule: the {} that split {} would write to the same place",
                             workers->all, name));
  }
}

bool iterations_run_loops(const Node* closer, const Node* range) {
  return std::ranges::any_of(slice_of(closer->src(0), range), [](const Node* node) {
    return OpSet{Op::Stage, Op::End, Op::After, Op::Barrier}.contains(node->op());
  });
}

void KernelLoops::check_kinds() const {
  check_workers();
  for (const auto& [name, range] : loops_)
    if (kind_of(range.node()) == LoopKind::Vector &&
        iterations_run_loops(closer_of(range.node()), range.node()))
      user_error(fmt::format("schedule: a staged value differs between the lanes of {}", name));
}

UOp KernelLoops::finished() {
  share_reductions();
  stage_all();
  check_kinds();
  std::vector<const Node*> firsts;  // one loop per closer, which outlives the closer
  for (const Node* closer : closers())
    if (closer->op() != Op::Stage) firsts.push_back(closer->src(1));
  for (const Node* range : firsts) sort(closer_of(range));
  for (const Node* range : firsts)
    if (const Node* closer = closer_of(range); closer->op() == Op::Reduce)
      keep_partial_sums(closer);
  nest_carrying_loops();
  shorten_masked_loops();
  return kernel_;
}

void KernelLoops::apply(const Schedule& schedule) {
  using Apply = void (KernelLoops::*)(const Action&);
  static constexpr Apply apply[] = {
      &KernelLoops::tile,  &KernelLoops::set_kind, &KernelLoops::reorder,
      &KernelLoops::stage, &KernelLoops::group,    &KernelLoops::pad,
      &KernelLoops::swap,  &KernelLoops::prefetch, &KernelLoops::pipeline,
      &KernelLoops::batch, &KernelLoops::online,   &KernelLoops::split_parallel,
      &KernelLoops::mma,   &KernelLoops::merge};
  static_assert(std::size(apply) == Action::types);
  for (const Action& action : schedule) (this->*apply[action.type])(action);
}

std::vector<NamedLoop> KernelLoops::names() const {
  std::vector<NamedLoop> loops;
  for (const std::string& name : order_) loops.push_back({name, loop(name)});
  return loops;
}

UOp apply_schedule(const UOp& kernel, const Schedule& schedule) {
  KernelLoops loops(kernel);
  loops.apply(schedule);
  return loops.finished();
}

}  // namespace weft
