// Write-after-read order of assignments. Each version of a memory has its own placeholder.

#include <algorithm>
#include <map>
#include <set>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

#include "partition.h"

namespace weft {
namespace {

std::optional<std::size_t> find_by_id(const std::unordered_map<std::uint64_t, std::size_t>& map,
                                      const Node* placeholder) {
  const auto found = map.find(placeholder->arg<BufferArg>().id.value);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

void number(Partition& partition) {
  partition.by_id.clear();
  partition.overwriting.clear();
  for (std::size_t i = 0; i < partition.points.size(); ++i) {
    partition.by_id.emplace(partition.points[i].placeholder->arg<BufferArg>().id.value, i);
    if (const UOp& before = partition.points[i].before; !before.is_null())
      partition.overwriting.emplace(before->arg<BufferArg>().id.value, i);
  }
}

// What runs before a point, and what has to run after it.
struct PointEdges {
  std::vector<std::size_t> sources;      // points that it depends on
  std::vector<std::size_t> overwriting;  // assignments that overwrite what it reads
};

std::vector<PointEdges> edges_of(const Partition& partition) {
  std::vector<PointEdges> edges(partition.points.size());
  if (partition.overwriting.empty()) return edges;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const PartitionPoint& point = partition.points[i];
    std::vector<const Node*> before = placeholders_of(point);
    for (const Node* placeholder : before)
      if (const auto by = partition.overwritten_by(placeholder); by && *by != i)
        edges[i].overwriting.push_back(*by);
    for (const UOp& placeholder : point.waits) before.push_back(placeholder.node());
    for (const Node* placeholder : before)
      if (const auto source = partition.point_of(placeholder)) edges[i].sources.push_back(*source);
  }
  return edges;
}

// Adds to the set, and returns whether it grew.
bool unite(std::vector<bool>& set, const std::vector<bool>& other) {
  bool has_grown = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    has_grown = has_grown || (other[i] && !set[i]);
    set[i] = set[i] || other[i];
  }
  return has_grown;
}

// Finds which assignments each point depends on.
void find_follows(Partition& partition, const std::vector<PointEdges>& edges) {
  std::size_t count = 0;
  for (PartitionPoint& point : partition.points)
    if (!point.before.is_null()) point.assignment = count++;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    PartitionPoint& point = partition.points[i];
    point.follows.assign(count, false);
    if (!point.before.is_null()) point.follows[point.assignment] = true;
    for (const std::size_t source : edges[i].sources)
      unite(point.follows, partition.points[source].follows);
  }
}

// Lets each assignment follow what the readers of the memory that it overwrites follow. Few
// assignments have readers behind them, so that few rounds are needed.
void follow_readers(Partition& partition, const std::vector<PointEdges>& edges) {
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      PartitionPoint& point = partition.points[i];
      for (const std::size_t source : edges[i].sources)
        has_grown = unite(point.follows, partition.points[source].follows) || has_grown;
      for (const std::size_t by : edges[i].overwriting)
        has_grown = unite(partition.points[by].follows, point.follows) || has_grown;
    }
  }
}

// Returns what the point reads although an assignment that it follows has overwritten it.
std::vector<const Node*> lost_to(const Partition& partition, const PartitionPoint& point) {
  std::vector<const Node*> lost;
  for (const Node* placeholder : placeholders_of(point)) {
    const auto overwriting = partition.overwritten_by(placeholder);
    if (!overwriting) continue;
    const PartitionPoint& assignment = partition.points[*overwriting];
    if (&assignment != &point && point.follows[assignment.assignment]) lost.push_back(placeholder);
  }
  return lost;
}

// Finds which points must run before an assignment because they read what it overwrites. The kernel
// of an assignment may also compute values that are not materialised, and then reads what these
// read.
class Precedence {
 public:
  explicit Precedence(const Partition& partition)
      : partition_(partition), placeholders_(partition.points.size()) {
    for (std::size_t i = 0; i < partition.points.size(); ++i) {
      placeholders_[i] = placeholders_of(partition.points[i]);
      find_what_it_uses(i);
    }
    for (std::size_t i = 0; i < partition.points.size(); ++i) find_what_it_reads(i);
  }

  // Returns for each point what it has to read from copies, so that kernels have no cyclic
  // dependences.
  std::map<std::size_t, std::vector<const Node*>> read_in_copies() {
    std::map<std::size_t, std::vector<const Node*>> result;
    for (auto& [point, accesses] : reads_)
      for (ReadAccess& access : accesses) {
        if (access.overwritten_by > point || !runs_before(access.overwritten_by, point)) continue;
        result[access.reader].push_back(access.placeholder);
        access.is_copied = true;
      }
    return result;
  }

 private:
  struct ReadAccess {
    std::size_t reader, overwritten_by;  // points
    const Node* placeholder;
    bool is_copied = false;
  };

  // The assignments of a step loop are one kernel, which orders its own accesses.
  bool is_one_kernel(std::size_t a, std::size_t b) const {
    return a == b || (partition_.points[a].loop != nullptr &&
                      partition_.points[a].loop == partition_.points[b].loop);
  }

  void find_what_it_uses(std::size_t point) {
    std::vector<const Node*> placeholders = placeholders_[point];
    for (const UOp& placeholder : partition_.points[point].waits)
      placeholders.push_back(placeholder.node());
    for (const Node* placeholder : placeholders)
      if (const auto source = partition_.point_of(placeholder)) users_[*source].push_back(point);
  }

  void find_what_it_reads(std::size_t point) {
    const bool is_assignment = !partition_.points[point].before.is_null();
    std::set<std::size_t> seen{point};
    for (std::vector<std::size_t> open{point}; !open.empty();) {
      const std::size_t reader = open.back();
      open.pop_back();
      for (const Node* placeholder : placeholders_[reader]) {
        if (const auto by = partition_.overwritten_by(placeholder);
            by && !is_one_kernel(*by, point))
          reads_[point].push_back({reader, *by, placeholder});
        const auto source = partition_.point_of(placeholder);
        if (is_assignment && source && !partition_.points[*source].must_materialise &&
            partition_.points[*source].before.is_null() && seen.insert(*source).second)
          open.push_back(*source);
      }
    }
  }

  bool runs_before(std::size_t first, std::size_t second) const {
    std::set<std::size_t> seen{first};
    for (std::vector<std::size_t> open{first}; !open.empty();) {
      const std::size_t point = open.back();
      open.pop_back();
      if (point == second) return true;
      const auto go_to = [&](std::size_t other) {
        if (seen.insert(other).second) open.push_back(other);
      };
      if (const auto known = users_.find(point); known != users_.end())
        for (const std::size_t user : known->second) go_to(user);
      if (const auto known = reads_.find(point); known != reads_.end())
        for (const ReadAccess& access : known->second)
          if (!access.is_copied) go_to(access.overwritten_by);
    }
    return false;
  }

  const Partition& partition_;
  std::vector<std::vector<const Node*>> placeholders_;    // by point
  std::map<std::size_t, std::vector<ReadAccess>> reads_;  // by point
  std::map<std::size_t, std::vector<std::size_t>> users_;
};

// Returns the versions that roots refer to and a later assignment overwrites. Roots in the
// program's own memory show its last version.
std::vector<const Node*> lost_to_roots(const Partition& partition) {
  const std::vector<const Node*> first = partition.first_versions();
  std::vector<const Node*> lost;
  for (const Node* placeholder : placeholders_of(nodes_of(partition.roots))) {
    const auto point = partition.point_of(placeholder);
    if (point && partition.point_of(first[*point]) && partition.overwritten_by(placeholder))
      lost.push_back(placeholder);
  }
  return lost;
}

// Returns a new placeholder for a copy of each.
Substitution copies_of(const std::vector<const Node*>& placeholders) {
  Substitution copies;
  for (const Node* placeholder : placeholders) {
    BufferArg arg = placeholder->arg<BufferArg>();
    arg.id = fresh_id();
    copies.try_emplace(placeholder,
                       make(Op::Buffer, sizes_of(UOp(placeholder)), placeholder->dtype(), arg));
  }
  return copies;
}

// Lets points read copies of what is overwritten before they run. Returns whether there are any.
bool add_copies(Partition& partition) {
  const std::vector<const Node*> of_roots = lost_to_roots(partition);
  std::map<std::size_t, std::vector<const Node*>> lost_in = Precedence(partition).read_in_copies();
  for (std::size_t i = 0; i < partition.points.size(); ++i)
    for (const Node* placeholder : lost_to(partition, partition.points[i]))
      lost_in[i].push_back(placeholder);
  std::vector<const Node*> all_lost = of_roots;
  for (const auto& [point, lost] : lost_in)
    all_lost.insert(all_lost.end(), lost.begin(), lost.end());
  if (all_lost.empty()) return false;
  const Substitution copies = copies_of(all_lost);
  // Each copy precedes the assignment that overwrites the memory and all readers of the copy.
  std::map<std::size_t, std::set<std::size_t>> copies_before;
  for (const auto& [placeholder, copy] : copies) {
    const auto overwriting = partition.overwritten_by(placeholder);
    if (!overwriting) continue;
    std::size_t first = *overwriting;
    for (const auto& [point, lost] : lost_in)
      if (std::ranges::find(lost, placeholder) != lost.end()) first = std::min(first, point);
    copies_before[first].insert(*overwriting);
  }
  std::vector<PartitionPoint> points;
  for (std::size_t i = 0; i < partition.points.size(); ++i) {
    for (const std::size_t overwriting : copies_before[i]) {
      const PartitionPoint& by = partition.points[overwriting];
      points.push_back({.placeholder = copies.at(by.before.node()),
                        .value = by.before,
                        .must_materialise = true,
                        .device = by.device,
                        .origin = by.origin,
                        .follows = {}});
    }
    PartitionPoint& point = partition.points[i];
    Substitution lost;
    for (const Node* placeholder : lost_in[i]) lost.emplace(placeholder, copies.at(placeholder));
    point.value = substitute(point.value, lost);
    if (!point.place.is_null()) point.place = substitute(point.place, lost);
    points.push_back(point);
  }
  partition.points = std::move(points);
  Substitution shown;
  for (const Node* placeholder : of_roots) shown.emplace(placeholder, copies.at(placeholder));
  for (UOp& root : partition.roots) root = substitute(root, shown);
  return true;
}

}  // namespace

std::optional<std::size_t> Partition::point_of(const Node* placeholder) const {
  return find_by_id(by_id, placeholder);
}

std::optional<std::size_t> Partition::overwritten_by(const Node* placeholder) const {
  return find_by_id(overwriting, placeholder);
}

bool Partition::is_program_memory(UOp memory) const {
  while (!memory.is_null() && memory->op() == Op::Buffer) {
    const auto point = point_of(memory.node());
    if (!point) return true;
    memory = points[*point].before;
  }
  return false;
}

std::vector<const Node*> Partition::first_versions() const {
  std::vector<const Node*> first;
  for (const PartitionPoint& point : points) {
    const Node* before = point.before.node();
    if (before == nullptr) {
      first.push_back(point.placeholder.node());
    } else {
      const auto assigned = point_of(before);
      first.push_back(assigned ? first[*assigned] : before);
    }
  }
  return first;
}

void add_write_after_read_copies(Partition& partition) {
  number(partition);
  std::vector<PointEdges> edges = edges_of(partition);
  find_follows(partition, edges);
  if (partition.overwriting.empty()) return;
  if (add_copies(partition)) {
    number(partition);
    edges = edges_of(partition);
    find_follows(partition, edges);
  }
  follow_readers(partition, edges);
}

}  // namespace weft
