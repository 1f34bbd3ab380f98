#include "group_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <weft/dev/ir/graph.h>
#include <weft/error.h>

#include "group_nests.h"
#include "group_tile.h"
#include "schedule/search/nest_of.h"
#include "schedule/search/plan_of.h"

namespace weft {
namespace {

constexpr std::int64_t lane_counts[] = {32, 64, 128, 256, 16, 8, 4, 1};
constexpr std::int64_t row_counts[] = {1, 2, 4, 8, 16, 32};
constexpr std::int64_t counts_of_item[] = {1, 2, 4, 8};
constexpr std::int64_t blocks[] = {8, 16, 32};
constexpr std::int64_t sum_counts[] = {32, 64};
constexpr std::int64_t most_sums = 64;    // of an item, in registers
constexpr std::size_t most_of_loops = 3;  // that lanes, or rows, are tried along
constexpr std::size_t most_applied = 24;  // schedules, until enough of them are legal

class Search {
 public:
  Search(const Nest& nest, const DeviceModel& model)
      : nest_(nest), model_(model), first_reduce_(nest.loops.size()) {
    for (std::size_t loop = 0; loop < nest.loops.size(); ++loop) {
      if (nest.loops[loop].is_reduce)
        first_reduce_ = std::min(first_reduce_, loop);
      else if (nest.loops[loop].size > 1)
        outputs_.push_back(static_cast<int>(loop));
    }
    // The loops along which memory is contiguous come first, then the innermost.
    std::ranges::sort(outputs_, std::greater(),
                      [&](int loop) { return std::pair(contiguous_along(loop), loop); });
  }

  // Fastest first.
  std::vector<GroupTile> ranked() {
    if (outputs_.empty()) add_reductions({});
    for (std::size_t i = 0; i < std::min(outputs_.size(), most_of_loops); ++i)
      for (const std::int64_t items : lane_counts)
        for (const std::int64_t each : counts_of_item) {
          const GroupAxis lanes{outputs_[i], items, each};
          if (!is_of_use(lanes)) continue;
          add_rows({.lanes = lanes});
        }
    std::ranges::sort(found_, {},
                      [](const GroupTile& tile) { return std::pair(tile.seconds, tile.number); });
    return std::move(found_);
  }

 private:
  // Reads and writes whose neighbours along the loop are neighbours in memory.
  std::ptrdiff_t contiguous_along(int loop) const {
    return std::ranges::count_if(nest_.accesses, [&](const NestAccess& access) {
      return std::abs(access.stride(static_cast<std::size_t>(loop))) == 1;
    });
  }
  bool is_of_use(const GroupAxis& axis) const {
    return axis.count() < 2 * nest_.loops[static_cast<std::size_t>(axis.loop)].size;
  }

  void add_rows(const GroupTile& tile) {
    add_reductions(tile);
    std::size_t tried = 0;
    for (const int loop : outputs_) {
      if (loop == tile.lanes.loop || tried++ == most_of_loops) continue;
      for (const std::int64_t items : row_counts)
        for (const std::int64_t each : counts_of_item) {
          GroupTile with = tile;
          with.rows = {loop, items, each};
          if (with.rows.count() > 1 && is_of_use(with.rows)) add_reductions(with);
        }
    }
  }

  void add_reductions(const GroupTile& tile) {
    if (tile.lanes.each * tile.rows.each > most_sums) return;
    add(tile);
    add_staged(tile, 0);
    if (first_reduce_ == nest_.loops.size()) return;
    const std::int64_t size = nest_.loops[first_reduce_].size;
    for (const std::int64_t block : blocks)
      if (block < size) add_staged(tile, block);
    for (const std::int64_t items : sum_counts) {
      GroupTile shared = tile;
      shared.sum_items = items;
      if (items <= size) add(shared);
    }
  }

  // All reads that several work-items have in common, or that they read more evenly together.
  void add_staged(GroupTile tile, std::int64_t block) {
    tile.block = block;
    tile.staged.resize(nest_.accesses.size());
    tile.by_region.resize(nest_.accesses.size());
    bool is_any = false;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      const NestAccess& access = nest_.accesses[a];
      tile.staged[a] = may_be_staged(access) && gains_by_staging(access, tile);
      tile.by_region[a] = access.overlap != Overlap::None || access.is_masked;
      is_any = is_any || tile.staged[a];
    }
    if (!is_any) return;
    add(tile);
    if (block == 0) return;
    tile.buffers = 2;
    add(tile);
  }
  bool may_be_staged(const NestAccess& access) const {
    const auto is_joined = [](const NestLoop& loop) { return loop.names.size() > 1; };
    return !access.is_write && !access.is_index && !access.name.empty() && !access.sizes.empty() &&
           std::ranges::none_of(nest_.loops, is_joined) &&
           std::ranges::none_of(access.irregular, std::identity());
  }
  bool gains_by_staging(const NestAccess& access, const GroupTile& tile) const {
    if (tile.block > 0) return !changes(access, tile.lanes) || !changes(access, tile.rows);
    // A transpose: rows are contiguous, and lanes are not.
    const auto stride = [&](const GroupAxis& axis) {
      return axis.loop < 0 ? 0 : std::abs(access.stride(static_cast<std::size_t>(axis.loop)));
    };
    return first_reduce_ == nest_.loops.size() && stride(tile.lanes) > 1 && stride(tile.rows) == 1;
  }
  static bool changes(const NestAccess& access, const GroupAxis& axis) {
    return axis.loop < 0 || access.changes_with(static_cast<std::size_t>(axis.loop));
  }

  void add(GroupTile tile) {
    if (tile.items() > model_.parallel.back().most) return;
    if (outputs_.empty() && tile.items() == 1) return;
    const NestTime time = time_of(model_, nest_, plan_of(nest_, actions_of(nest_, tile)));
    tile.seconds = time.total();
    tile.number = found_.size();
    if (std::isfinite(tile.seconds)) found_.push_back(std::move(tile));
  }

  const Nest& nest_;
  const DeviceModel& model_;
  std::vector<int> outputs_;
  std::size_t first_reduce_;
  std::vector<GroupTile> found_;
};

// Whether a work-group has no more items and shared memory than the device allows.
bool fits(const Node* kernel, const DeviceModel& model) {
  std::int64_t items = 1;
  double shared = 0;
  for (const Node* node : toposort(kernel)) {
    if (node->op() == Op::Range && node->arg<RangeArg>().kind == LoopKind::Local)
      items *= node->src(0)->hi();
    if (node->op() != Op::Buffer || node->arg<BufferArg>().space != Space::Shared) continue;
    double bytes = static_cast<double>(node->dtype().bytes());
    for (const Node* size : node->src()) bytes *= static_cast<double>(size->hi());
    shared += bytes;
  }
  return items <= model.parallel.back().most && shared <= model.groups.shared_of_group;
}

bool is_legal(const Node* kernel, const Schedule& schedule, const DeviceModel& model) {
  try {
    return fits(apply_schedule(UOp(kernel), schedule).node(), model);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<GroupSchedule> group_schedules(const Node* kernel, const Target& target,
                                           std::size_t most) {
  std::vector<GroupSchedule> found;
  const auto nests = nests_of(kernel, loops_of_kernel(kernel), target.ops.contains(Op::MulAcc));
  if (nests.size() == 1 && nests[0].is_whole && !nests[0].nest.loops[0].is_around) {
    const Nest& nest = nests[0].nest;
    const std::vector<GroupTile> ranked = Search(nest, target.machine).ranked();
    for (std::size_t i = 0; i < std::min(ranked.size(), most_applied) && found.size() < most; ++i)
      if (Schedule schedule = actions_of(nest, ranked[i]);
          is_legal(kernel, schedule, target.machine))
        found.push_back({std::move(schedule), ranked[i].seconds});
  }
  for (const Schedule& schedule : {shared_nests(kernel), groups_alone(kernel)})
    if (found.size() < most && !schedule.empty() && is_legal(kernel, schedule, target.machine))
      found.push_back({schedule, {}});
  if (found.empty()) found.push_back({});
  return found;
}

}  // namespace weft
