#include "group_nests.h"

#include <algorithm>
#include <bit>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>

#include "group_tile.h"
#include "schedule/actions/kernel_loops.h"

namespace weft {
namespace {

constexpr std::int64_t fewest_items = 8, most_items = 64;

std::int64_t size_of(const NamedLoop& loop) { return loop.range->src(0)->lo(); }

NodeList output_loops(const Node* kernel) {
  const bool has_loops = kernel->size() == 1 && kernel->src(0)->op() == Op::End;
  return has_loops ? kernel->src(0)->src().subspan(1) : NodeList();
}

// The output loops that all reductions, stages and inner loops of the kernel depend on, as many as
// a grid has axes.
std::vector<NamedLoop> grid_of(const Node* kernel) {
  std::vector<NamedLoop> grid;
  const NodeList own = output_loops(kernel);
  if (own.empty()) return grid;
  const std::vector<const Node*> nodes = toposort(kernel->src(0)->src(0));
  for (const NamedLoop& loop : loops_of_kernel(kernel)) {
    const auto depends = [&](const Node* node) {
      return !OpSet{Op::Reduce, Op::End, Op::Stage}.contains(node->op()) ||
             changes_with(node, loop.range);
    };
    if (grid.size() < most_grid_axes && std::ranges::find(own, loop.range) != own.end() &&
        std::ranges::all_of(nodes, depends))
      grid.push_back(loop);
  }
  return grid;
}

// Whether the reduction stands inside another one.
bool is_nested(const Node* reduction) {
  return std::ranges::any_of(reduction->ranges(), [](const Node* range) {
    return range->arg<RangeArg>().kind == LoopKind::Reduce;
  });
}

class SharedNests {
 public:
  explicit SharedNests(const Node* kernel) : grid_(grid_of(kernel)) {
    const NodeList own = output_loops(kernel);
    const KernelLoops loops{UOp(kernel)};
    for (const NamedLoop& loop : loops_of_kernel(kernel)) {
      const Node* closer = loops.closer_of(loop.range);
      if (std::ranges::find(grid_, loop.name, &NamedLoop::name) != grid_.end()) continue;
      if (closer->op() == Op::Reduce && closer->src(1) == loop.range && !is_nested(closer))
        reductions_.push_back(loop);
      else if (std::ranges::find(own, loop.range) != own.end())
        outputs_.push_back(loop);
    }
    if (reductions_.empty() && outputs_.empty() && !grid_.empty()) {
      outputs_.push_back(grid_.back());
      grid_.pop_back();
    }
  }

  Schedule schedule() {
    for (const auto* loops : {&reductions_, &outputs_})
      for (const NamedLoop& loop : *loops) count_items(loop);
    std::vector<std::string> order;
    for (const NamedLoop& loop : grid_) order.push_back(loop.name);
    if (!outputs_.empty()) {
      add_tile(Action::Tile, outputs_.back());
      order.push_back(outputs_.back().name + ".1");
    }
    for (const NamedLoop& loop : outputs_) order.push_back(loop.name);
    if (order.size() > 1) schedule_.push_back({.type = Action::Order, .name = {}, .loops = order});
    for (const NamedLoop& loop : grid_) set_kind(loop.name, LoopKind::Global);
    if (!outputs_.empty()) set_kind(outputs_.back().name + ".1", LoopKind::Local);
    for (const NamedLoop& loop : reductions_) add_tile(Action::Group, loop);
    return std::move(schedule_);
  }

 private:
  void count_items(const NamedLoop& loop) {
    const auto size = std::bit_floor(static_cast<std::uint64_t>(size_of(loop)));
    items_ = std::clamp(static_cast<std::int64_t>(size), items_, most_items);
  }
  void set_kind(const std::string& name, LoopKind kind) {
    schedule_.push_back({.type = Action::Kind, .name = name, .kind = kind});
  }
  void add_tile(Action::Type type, const NamedLoop& loop) {
    schedule_.push_back({.type = type,
                         .name = loop.name,
                         .count = items_,
                         .tail = size_of(loop) % items_ == 0 ? Tail::None : Tail::Mask});
  }

  std::vector<NamedLoop> grid_, reductions_, outputs_;
  std::int64_t items_ = fewest_items;
  Schedule schedule_;
};

}  // namespace

Schedule shared_nests(const Node* kernel) {
  const auto is_known = [](const NamedLoop& loop) { return loop.range->src(0)->is_const(); };
  if (kernel->size() != 1 || !std::ranges::all_of(loops_of_kernel(kernel), is_known)) return {};
  return SharedNests(kernel).schedule();
}

Schedule groups_alone(const Node* kernel) {
  Schedule schedule;
  for (const NamedLoop& loop : grid_of(kernel))
    schedule.push_back({.type = Action::Kind, .name = loop.name, .kind = LoopKind::Global});
  return schedule;
}

}  // namespace weft
