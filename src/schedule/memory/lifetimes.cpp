#include "lifetimes.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace weft {
namespace {

// The memory in use at each step, as a segment tree: adding to a range of steps and finding the
// maximum take logarithmic time. The maximum of a tree node excludes what was added to its
// ancestors.
class NeededMemory {
 public:
  explicit NeededMemory(std::size_t steps) {
    while (size_ < steps) size_ *= 2;
    most_.resize(2 * size_);
    added_.resize(2 * size_);
  }

  void add(std::size_t first, std::size_t last, std::int64_t bytes) {
    add(1, 0, size_ - 1, first, last, bytes);
  }
  std::int64_t most() const { return most_[1]; }
  std::size_t first_with_most() const {
    std::size_t at = 1;
    while (at < size_) at = 2 * at + (most_[2 * at] >= most_[2 * at + 1] ? 0 : 1);
    return at - size_;
  }

 private:
  void add(std::size_t at, std::size_t from, std::size_t to, std::size_t first, std::size_t last,
           std::int64_t bytes) {
    if (last < from || to < first) return;
    if (first <= from && to <= last) {
      added_[at] += bytes;
      most_[at] += bytes;
      return;
    }
    const std::size_t middle = (from + to) / 2;
    add(2 * at, from, middle, first, last, bytes);
    add(2 * at + 1, middle + 1, to, first, last, bytes);
    most_[at] = added_[at] + std::max(most_[2 * at], most_[2 * at + 1]);
  }

  std::size_t size_ = 1;
  std::vector<std::int64_t> most_, added_;
};

// Returns the steps that read each point, ascending.
std::vector<std::vector<std::size_t>> reads_of(const Fusion& fusion) {
  std::vector<std::vector<std::size_t>> reads(fusion.placements.size());
  for (std::size_t step = 0; step < fusion.kernels.size(); ++step)
    for (std::size_t point : fusion.kernels[step].reads) reads[point].push_back(step);
  return reads;
}

class Chooser {
 public:
  Chooser(const Partition& partition, const Fusion& fusion, const PointFlow& flow,
          RecomputeBudget price)
      : partition_(partition),
        fusion_(fusion),
        flow_(flow),
        price_(price),
        parts_(lifetimes(partition, fusion, flow)),
        reads_(reads_of(fusion)),
        needed_(fusion.kernels.size()),
        recomputed_(partition.points.size()),
        points_(partition.points.size()) {
    for (std::size_t point = 0; point < parts_.size(); ++point) live(point, {{parts_[point]}});
    step_ = needed_.first_with_most();
  }

  std::optional<Rematerialized> run() {
    find_first_late();
    const std::int64_t before = needed_.most();
    for (std::size_t point : candidates())
      if (seconds(point) <= price_.seconds && pays(point)) price_.seconds -= seconds(point);
    if (before - needed_.most() <= before / least_part) return {};
    return Rematerialized{step_, recomputed_};
  }

 private:
  static constexpr std::int64_t least_part = 16;  // the peak must fall by more than 1/least_part

  struct Point {
    std::size_t first_late = PointFlow::nowhere;  // the first late reader
    std::size_t again_at = PointFlow::nowhere;    // the step that first needs the copy
    std::vector<Lifetime> lives = {};             // of the point and its copy
    std::vector<std::size_t> inputs = {};         // of a candidate
    std::set<std::size_t> users = {};             // recomputed points that depend on it
  };

  bool is_late(std::size_t point) const { return flow_.is_stored_after(step_, point); }

  // Returns the time of the kernel that stores the point, possibly with others.
  double seconds(std::size_t point) const { return fusion_.kernels[flow_.step[point]].seconds; }

  // Finds the first late point in program order that reads each point, directly or through points
  // without memory.
  void find_first_late() {
    for (std::size_t user = points_.size(); user-- > 0;) {
      if (flow_.is_stored(user) && !is_late(user)) continue;
      const std::size_t first = is_late(user) ? user : points_[user].first_late;
      for (std::size_t source : flow_.sources[user])
        points_[source].first_late = std::min(points_[source].first_late, first);
    }
  }

  // Returns the materialised points that the value depends on, directly or through points without
  // memory.
  std::vector<std::size_t> inputs_of(std::size_t point) const {
    std::vector<std::size_t> inputs;
    std::set<std::size_t> seen;
    for (std::vector<std::size_t> open{point}; !open.empty();) {
      const std::size_t at = open.back();
      open.pop_back();
      for (std::size_t source : flow_.sources[at])
        if (seen.insert(source).second) (flow_.is_stored(source) ? inputs : open).push_back(source);
    }
    return inputs;
  }

  // Returns the points that are cheap to recompute for their size, cheapest first.
  std::vector<std::size_t> candidates() {
    std::vector<std::size_t> found;
    for (std::size_t point = 0; point < points_.size(); ++point) {
      if (!may_be_again(point)) continue;
      points_[point].inputs = inputs_of(point);
      found.push_back(point);
    }
    const auto cost = [&](std::size_t point) {
      return seconds(point) / static_cast<double>(parts_[point].bytes);
    };
    std::erase_if(found, [&](std::size_t point) { return cost(point) > price_.seconds_per_byte; });
    std::ranges::sort(found, {}, [&](std::size_t point) { return std::pair(cost(point), point); });
    return found;
  }

  bool may_be_again(std::size_t point) const {
    const PartitionPoint& piece = partition_.points[point];
    const std::size_t reader = points_[point].first_late;
    return parts_[point].bytes > 0 && !needs_own_kernel(piece) &&
           !partition_.overwritten_by(piece.placeholder.node()) && parts_[point].first <= step_ &&
           parts_[point].last > step_ && reader != PointFlow::nowhere &&
           point_to_wait_for(partition_, fusion_, flow_, point, {step_, reader});
  }

  // Marks the point for recomputation if that lowers peak memory.
  bool pays(std::size_t point) {
    const std::int64_t before = needed_.most();
    put(point, true);
    if (needed_.most() < before) return true;
    put(point, false);
    return false;
  }

  void put(std::size_t changed, bool is_again) {
    recomputed_[changed] = is_again;
    const std::vector<std::size_t>& inputs = points_[changed].inputs;
    for (std::size_t input : inputs) {
      if (is_again)
        points_[input].users.insert(changed);
      else
        points_[input].users.erase(changed);
    }
    // Visits users before their inputs: if a copy is needed earlier, so are the inputs of the
    // point.
    std::set<std::size_t, std::greater<>> open(inputs.begin(), inputs.end());
    open.insert(changed);
    while (!open.empty()) {
      const std::size_t point = *open.begin();
      open.erase(open.begin());
      if (settle(point) && recomputed_[point])
        open.insert(points_[point].inputs.begin(), points_[point].inputs.end());
    }
  }

  // Updates the lifetimes of the point from its users. Returns whether the step that first needs
  // its copy has changed.
  bool settle(std::size_t point) {
    const auto late = std::ranges::upper_bound(reads_[point], step_);
    std::size_t first = late != reads_[point].end() ? *late : PointFlow::nowhere,
                last = parts_[point].last;
    for (std::size_t user : points_[point].users) {
      first = std::min(first, points_[user].again_at);
      last = std::max(last, points_[user].again_at);
    }
    const std::size_t bytes = parts_[point].bytes, birth = parts_[point].first;
    if (!recomputed_[point]) {
      live(point, {{bytes, birth, last}});
      return false;
    }
    std::vector<Lifetime> lives{{bytes, first, last}};
    if (late != reads_[point].begin()) lives.push_back({bytes, birth, *std::prev(late)});
    live(point, std::move(lives));
    return std::exchange(points_[point].again_at, first) != first;
  }

  void live(std::size_t point, std::vector<Lifetime> lives) {
    for (const auto& [bytes, first, last] : points_[point].lives)
      needed_.add(first, last, -static_cast<std::int64_t>(bytes));
    points_[point].lives = std::move(lives);
    for (const auto& [bytes, first, last] : points_[point].lives)
      needed_.add(first, last, static_cast<std::int64_t>(bytes));
  }

  const Partition& partition_;
  const Fusion& fusion_;
  const PointFlow& flow_;
  RecomputeBudget price_;  // what is left of it
  const std::vector<Lifetime> parts_;
  const std::vector<std::vector<std::size_t>> reads_;
  NeededMemory needed_;
  std::size_t step_ = 0;  // of peak memory if nothing is recomputed
  std::vector<bool> recomputed_;
  std::vector<Point> points_;
};

}  // namespace

PointFlow::PointFlow(const Partition& partition, const Fusion& fusion)
    : sources(partition.points.size()), step(partition.points.size(), nowhere) {
  for (std::size_t i = 0; i < fusion.kernels.size(); ++i)
    for (std::size_t output : fusion.kernels[i].outputs) step[output] = i;
  for (std::size_t point = 0; point < partition.points.size(); ++point) {
    std::set<std::size_t> found;
    for (const Node* placeholder : placeholders_of(partition.points[point]))
      if (const auto source = partition.point_of(placeholder)) found.insert(*source);
    sources[point].assign(found.begin(), found.end());
  }
}

std::vector<Lifetime> lifetimes(const Partition& partition, const Fusion& fusion,
                                const PointFlow& flow) {
  const std::vector<bool> outlives = outlives_run(partition);
  const std::vector<std::vector<std::size_t>> reads = reads_of(fusion);
  std::vector<Lifetime> lives;
  for (std::size_t point = 0; point < partition.points.size(); ++point) {
    if (!flow.is_stored(point)) {
      lives.push_back({0, 0, 0});
      continue;
    }
    const std::size_t first = flow.step[point];
    const std::size_t last = reads[point].empty() ? first : reads[point].back();
    lives.push_back({outlives[point] ? 0 : new_bytes(partition.points[point]), first, last});
  }
  return lives;
}

std::optional<Rematerialized> worth_rematerializing(const Partition& partition,
                                                    const Fusion& fusion, const PointFlow& flow,
                                                    RecomputeBudget price) {
  if (fusion.kernels.empty()) return {};
  return Chooser(partition, fusion, flow, price).run();
}

std::optional<std::size_t> point_to_wait_for(const Partition& partition, const Fusion& fusion,
                                             const PointFlow& flow, std::size_t point,
                                             LateReader late) {
  const auto follows_no_more = [&](std::size_t read) {
    return std::ranges::equal(partition.points[read].follows, partition.points[point].follows,
                              std::less_equal{});
  };
  std::optional<std::size_t> latest;
  for (std::size_t read : fusion.kernels[flow.step[late.reader]].reads)
    if (read < late.reader && flow.step[read] > late.step && follows_no_more(read) &&
        (!latest || flow.step[read] > flow.step[latest.value()]))
      latest = read;
  return latest;
}

}  // namespace weft
