#include "rematerialize.h"

#include <algorithm>
#include <map>
#include <ranges>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

namespace weft {
namespace {

constexpr std::size_t nowhere = PointFlow::nowhere;

class Copier {
 public:
  Copier(const Partition& partition, const Fusion& fusion, const PointFlow& flow,
         const Rematerialized& again)
      : partition_(partition),
        fusion_(fusion),
        flow_(flow),
        recomputed_(again),
        is_made_of_copies_(partition.points.size()),
        place_(partition.points.size(), nowhere) {}

  Partition run() {
    find_made_of_copies();
    find_places();
    Partition result;
    result.roots = partition_.roots;
    for (std::size_t point = 0; point < partition_.points.size(); ++point) {
      for (std::size_t copied : placed_before_[point])
        result.points.push_back(copy_of(copied, point));
      result.points.push_back(is_late(point) ? over_copies(point) : partition_.points[point]);
      result.points.back().must_materialise = flow_.is_stored(point);
    }
    return result;
  }

 private:
  bool is_late(std::size_t point) const { return flow_.is_stored_after(recomputed_.step, point); }

  // Finds the points of which late readers read a copy: recomputed points, and points without
  // memory that depend on them.
  void find_made_of_copies() {
    for (std::size_t point = 0; point < partition_.points.size(); ++point) {
      const auto is_copied = [&](std::size_t source) { return is_made_of_copies_[source]; };
      is_made_of_copies_[point] =
          recomputed_.points[point] ||
          (!flow_.is_stored(point) && std::ranges::any_of(flow_.sources[point], is_copied));
    }
  }

  // Places each copy before the first late point that needs it. A recomputed point has its own
  // copies of the points without memory that it depends on, because a stage in one kernel cannot
  // serve another.
  void find_places() {
    // Includes the points without memory that a recomputed point depends on.
    std::vector<bool> is_again = recomputed_.points;
    for (std::size_t user = partition_.points.size(); user-- > 0;) {
      const std::size_t before = is_late(user) ? user : place_[user];
      if (before == nowhere) continue;
      for (std::size_t source : flow_.sources[user]) {
        const bool is_part = is_again[user] && !flow_.is_stored(source);
        if (!is_part && !is_made_of_copies_[source]) continue;
        place_[source] = std::min(place_[source], before);
        is_again[source] = is_again[source] || is_part;
      }
    }
    for (std::size_t point = 0; point < partition_.points.size(); ++point)
      if (place_[point] != nowhere) placed_before_[place_[point]].push_back(point);
  }

  PartitionPoint copy_of(std::size_t copied, std::size_t first_user) {
    PartitionPoint copy = partition_.points[copied];
    Substitution now;
    for (std::size_t source : flow_.sources[copied]) put_copy(source, now);
    copy.value = substitute(copy.value, now);
    BufferArg arg = copy.placeholder->arg<BufferArg>();
    arg.id = fresh_id();
    copy.must_materialise = flow_.is_stored(copied);
    copy.placeholder = make(Op::Buffer, sizes_of(copy.placeholder), copy.placeholder->dtype(), arg);
    if (const auto other =
            point_to_wait_for(partition_, fusion_, flow_, copied, {recomputed_.step, first_user}))
      copy.waits.push_back(partition_.points[*other].placeholder);
    copies_.emplace(copied, copy.placeholder);
    return copy;
  }

  PartitionPoint over_copies(std::size_t late) const {
    PartitionPoint point = partition_.points[late];
    Substitution now;
    for (std::size_t source : flow_.sources[late])
      if (is_made_of_copies_[source]) put_copy(source, now);
    point.value = substitute(point.value, now);
    if (!point.place.is_null()) point.place = substitute(point.place, now);
    return point;
  }

  void put_copy(std::size_t source, Substitution& now) const {
    if (const auto copy = copies_.find(source); copy != copies_.end())
      now.emplace(partition_.points[source].placeholder.node(), copy->second);
  }

  const Partition& partition_;
  const Fusion& fusion_;
  const PointFlow& flow_;
  const Rematerialized& recomputed_;
  std::vector<bool> is_made_of_copies_;
  std::vector<std::size_t> place_;  // the point that each point's copy precedes, or nowhere
  std::map<std::size_t, std::vector<std::size_t>> placed_before_;
  std::map<std::size_t, UOp> copies_;  // placeholders, by point
};

// Removes points that nothing reads any more.
Partition without_unread(Partition partition) {
  NodeMap<bool> read;
  for (const UOp& root : partition.roots)
    for (const Node* node : toposort(root.node())) read.set(node, true);
  std::vector<PartitionPoint> kept;
  for (PartitionPoint& point : partition.points | std::views::reverse) {
    if (!read.contains(point.placeholder.node())) continue;
    for (const Node* placeholder : placeholders_of(point)) read.set(placeholder, true);
    for (const UOp& placeholder : point.waits) read.set(placeholder.node(), true);
    if (!point.before.is_null()) read.set(point.before.node(), true);
    kept.push_back(std::move(point));
  }
  std::ranges::reverse(kept);
  partition.points = std::move(kept);
  return partition;
}

}  // namespace

Partition with_copies(const Partition& partition, const Fusion& fusion, const PointFlow& flow,
                      const Rematerialized& again) {
  Partition result = without_unread(Copier(partition, fusion, flow, again).run());
  add_write_after_read_copies(result);
  return result;
}

}  // namespace weft
