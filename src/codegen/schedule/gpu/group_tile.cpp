#include "group_tile.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace weft {
namespace {

// The loops that an axis becomes inside of a work-group: the iterations of one item, and the items.
struct AxisLoops {
  std::string each, items;
};

class ActionWriter {
 public:
  ActionWriter(const Nest& nest, const GroupTile& tile) : nest_(nest), tile_(tile) {}

  Schedule schedule() {
    const AxisLoops rows = divide(tile_.rows), lanes = divide(tile_.lanes);
    const std::vector<std::string> outer = outer_loops();
    std::vector<std::string> order = outer;
    const auto add = [&](const std::string& name) {
      if (!name.empty()) order.push_back(name);
    };
    const std::size_t grid = std::min(outer.size(), most_grid_axes);
    order.resize(grid);  // work-groups and work-items stand outermost
    add(rows.items), add(lanes.items);
    order.insert(order.end(), outer.begin() + static_cast<std::ptrdiff_t>(grid), outer.end());
    add_reductions(order);
    add(rows.each), add(lanes.each);
    if (order.size() > 1) push({.type = Action::Order, .name = {}, .loops = order});
    for (std::size_t i = 0; i < grid; ++i) set_kind(outer[i], LoopKind::Global);
    for (const std::string& name : {rows.items, lanes.items})
      if (!name.empty()) set_kind(name, LoopKind::Local);
    stage(rows, lanes);
    for (const std::string& name : {rows.each, lanes.each})
      if (!name.empty()) set_kind(name, LoopKind::Upcast);
    share_reduction();
    return std::move(schedule_);
  }

 private:
  void push(Action action) { schedule_.push_back(std::move(action)); }
  void set_kind(const std::string& name, LoopKind kind) {
    push({.type = Action::Kind, .name = name, .kind = kind});
  }
  const std::string& name_of(std::size_t loop) const { return nest_.loops[loop].names[0]; }

  void tile(const std::string& name, std::int64_t size, std::int64_t count) {
    push({.type = Action::Tile,
          .name = name,
          .count = count,
          .tail = size % count == 0 ? Tail::None : Tail::Mask});
  }

  AxisLoops divide(const GroupAxis& axis) {
    if (axis.loop < 0) return {};
    const std::string& name = name_of(static_cast<std::size_t>(axis.loop));
    AxisLoops loops;
    if (axis.count() == 1) return loops;
    tile(name, nest_.loops[static_cast<std::size_t>(axis.loop)].size, axis.count());
    const std::string inner = name + ".1";
    if (axis.each == 1) {
      loops.items = inner;
    } else if (axis.items == 1) {
      loops.each = inner;
    } else {
      tile(inner, axis.count(), axis.items);
      loops.each = inner;
      loops.items = name + ".2";
    }
    return loops;
  }

  std::vector<std::string> outer_loops() const {
    std::vector<std::string> names;
    for (const NestLoop& loop : nest_.loops)
      if (!loop.is_reduce) names.push_back(loop.names[0]);
    return names;
  }

  void add_reductions(std::vector<std::string>& order) {
    std::vector<std::string> inner;
    for (std::size_t i = 0; i < nest_.loops.size(); ++i) {
      if (!nest_.loops[i].is_reduce) continue;
      const bool is_first = block_.empty();
      for (const std::string& name : nest_.loops[i].names) {
        order.push_back(name);
        if (!is_first || tile_.block == 0) continue;
        tile(name, nest_.loops[i].size, tile_.block);
        inner.push_back(name + ".1");
      }
      if (is_first) block_ = nest_.loops[i].names.back();
    }
    order.insert(order.end(), inner.begin(), inner.end());
  }

  // Work-items that are neighbours read neighbours in shared memory.
  void stage(const AxisLoops& rows, const AxisLoops& lanes) {
    for (std::size_t a = 0; a < tile_.staged.size(); ++a) {
      if (!tile_.staged[a]) continue;
      Action action{.type = Action::Stage,
                    .name = nest_.accesses[a].name,
                    .at = tile_.block > 0 ? block_ : last_group_loop(),
                    .by_region = tile_.by_region[a],
                    .space = Space::Shared};
      if (!action.by_region) action.loops = layout_of(nest_.accesses[a], rows, lanes);
      push(action);
      if (tile_.buffers > 1 && tile_.block > 0)
        push({.type = Action::Pipeline, .name = nest_.accesses[a].name, .count = tile_.buffers});
    }
  }
  std::string last_group_loop() const {
    const std::vector<std::string> outer = outer_loops();
    return outer[std::min(outer.size(), most_grid_axes) - 1];
  }

  // Its dimensions, the loop of the lanes last.
  std::vector<std::string> layout_of(const NestAccess& access, const AxisLoops& rows,
                                     const AxisLoops& lanes) const {
    std::vector<std::string> order;
    bool is_first = true;
    for (std::size_t i = 0; i < nest_.loops.size(); ++i) {
      if (!nest_.loops[i].is_reduce) continue;
      const bool is_blocked = std::exchange(is_first, false) && tile_.block > 0;
      if (access.changes_with(i))
        order.push_back(nest_.loops[i].names[0] + (is_blocked ? ".1" : ""));
    }
    const auto add = [&](const GroupAxis& axis, const AxisLoops& loops) {
      if (axis.loop < 0 || !access.changes_with(static_cast<std::size_t>(axis.loop))) return;
      for (const std::string& name : {loops.each, loops.items})
        if (!name.empty()) order.push_back(name);
    };
    add(tile_.rows, rows);
    add(tile_.lanes, lanes);
    return order;
  }

  void share_reduction() {
    if (tile_.sum_items == 1) return;
    for (const NestLoop& loop : nest_.loops)
      if (loop.is_reduce) {
        for (const std::string& name : loop.names)
          push({.type = Action::Group,
                .name = name,
                .count = tile_.sum_items,
                .tail = loop.size % tile_.sum_items == 0 ? Tail::None : Tail::Mask});
        return;
      }
  }

  const Nest& nest_;
  const GroupTile& tile_;
  std::string block_;  // the first reduction's loop
  Schedule schedule_;
};

}  // namespace

Schedule actions_of(const Nest& nest, const GroupTile& tile) {
  return ActionWriter(nest, tile).schedule();
}

}  // namespace weft
