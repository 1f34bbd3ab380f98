// Assignments: memory has versions, and a leaf for each.

#include <algorithm>
#include <map>
#include <set>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

#include "cuts.h"

namespace weft {
namespace {

std::optional<std::size_t> find_by_id(const std::unordered_map<std::uint64_t, std::size_t>& map,
                                      const Node* leaf) {
  const auto found = map.find(leaf->arg<BufferArg>().id.value);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

void number(CutGraph& graph) {
  graph.by_id.clear();
  graph.overwriting.clear();
  for (std::size_t i = 0; i < graph.cuts.size(); ++i) {
    graph.by_id.emplace(graph.cuts[i].leaf->arg<BufferArg>().id.value, i);
    if (const UOp& before = graph.cuts[i].before; !before.is_null())
      graph.overwriting.emplace(before->arg<BufferArg>().id.value, i);
  }
}

void follow(CutGraph& graph) {
  std::size_t count = 0;
  for (Cut& cut : graph.cuts)
    if (!cut.before.is_null()) cut.assignment = count++;
  for (Cut& cut : graph.cuts) {
    cut.follows.assign(count, false);
    if (count == 0) continue;
    std::vector<const Node*> before = leaves_of(cut);
    for (const UOp& leaf : cut.waits) before.push_back(leaf.node());
    for (const Node* leaf : before)
      if (const auto source = graph.cut_of(leaf))
        for (std::size_t i = 0; i < count; ++i)
          cut.follows[i] = cut.follows[i] || graph.cuts[*source].follows[i];
    if (!cut.before.is_null()) cut.follows[cut.assignment] = true;
  }
}

// What the cut reads although an assignment that it follows has overwritten it.
std::vector<const Node*> lost_to(const CutGraph& graph, const Cut& cut) {
  std::vector<const Node*> lost;
  for (const Node* leaf : leaves_of(cut)) {
    const auto overwriting = graph.overwritten_by(leaf);
    if (!overwriting) continue;
    const Cut& assignment = graph.cuts[*overwriting];
    if (&assignment != &cut && cut.follows[assignment.assignment]) lost.push_back(leaf);
  }
  return lost;
}

// Which cuts are to run before assignments, because they read what these overwrite. The kernel of an assignment may compute
// what nobody keeps, and reads what that reads.
class Precedence {
 public:
  explicit Precedence(const CutGraph& graph) : graph_(graph), leaves_(graph.cuts.size()) {
    for (std::size_t i = 0; i < graph.cuts.size(); ++i) {
      leaves_[i] = leaves_of(graph.cuts[i]);
      find_what_it_uses(i);
    }
    for (std::size_t i = 0; i < graph.cuts.size(); ++i) find_what_it_reads(i);
  }

  // For each cut what it is to read in copies, so that no kernels wait for each other.
  std::map<std::size_t, std::vector<const Node*>> read_in_copies() {
    std::map<std::size_t, std::vector<const Node*>> result;
    for (auto& [cut, readings] : readings_)
      for (Reading& reading : readings) {
        if (reading.overwritten_by > cut || !runs_before(reading.overwritten_by, cut)) continue;
        result[reading.reader].push_back(reading.leaf);
        reading.is_copied = true;
      }
    return result;
  }

 private:
  struct Reading {
    std::size_t reader, overwritten_by;  // cuts
    const Node* leaf;
    bool is_copied = false;
  };

  // The steps of a loop read what they are to read by themselves.
  bool is_one_kernel(std::size_t a, std::size_t b) const {
    return a == b || (graph_.cuts[a].loop != nullptr && graph_.cuts[a].loop == graph_.cuts[b].loop);
  }

  void find_what_it_uses(std::size_t cut) {
    std::vector<const Node*> leaves = leaves_[cut];
    for (const UOp& leaf : graph_.cuts[cut].waits) leaves.push_back(leaf.node());
    for (const Node* leaf : leaves)
      if (const auto source = graph_.cut_of(leaf)) users_[*source].push_back(cut);
  }

  void find_what_it_reads(std::size_t cut) {
    const bool is_assignment = !graph_.cuts[cut].before.is_null();
    std::set<std::size_t> seen{cut};
    for (std::vector<std::size_t> open{cut}; !open.empty();) {
      const std::size_t reader = open.back();
      open.pop_back();
      for (const Node* leaf : leaves_[reader]) {
        if (const auto by = graph_.overwritten_by(leaf); by && !is_one_kernel(*by, cut))
          readings_[cut].push_back({reader, *by, leaf});
        const auto source = graph_.cut_of(leaf);
        if (is_assignment && source && !graph_.cuts[*source].must &&
            graph_.cuts[*source].before.is_null() && seen.insert(*source).second)
          open.push_back(*source);
      }
    }
  }

  bool runs_before(std::size_t first, std::size_t second) const {
    std::set<std::size_t> seen{first};
    for (std::vector<std::size_t> open{first}; !open.empty();) {
      const std::size_t cut = open.back();
      open.pop_back();
      if (cut == second) return true;
      const auto go_to = [&](std::size_t other) {
        if (seen.insert(other).second) open.push_back(other);
      };
      if (const auto known = users_.find(cut); known != users_.end())
        for (const std::size_t user : known->second) go_to(user);
      if (const auto known = readings_.find(cut); known != readings_.end())
        for (const Reading& reading : known->second)
          if (!reading.is_copied) go_to(reading.overwritten_by);
    }
    return false;
  }

  const CutGraph& graph_;
  std::vector<std::vector<const Node*>> leaves_;          // by cut
  std::map<std::size_t, std::vector<Reading>> readings_;  // by cut
  std::map<std::size_t, std::vector<std::size_t>> users_;
};

// What roots show, which a later assignment overwrites. All that the program has of its own memory shows the last.
std::vector<const Node*> lost_to_roots(const CutGraph& graph) {
  std::vector<const Node*> lost;
  for (const Node* leaf : leaves_of(nodes_of(graph.roots)))
    if (graph.overwritten_by(leaf) && !graph.is_programs(UOp(leaf))) lost.push_back(leaf);
  return lost;
}

}  // namespace

std::optional<std::size_t> CutGraph::cut_of(const Node* leaf) const {
  return find_by_id(by_id, leaf);
}

std::optional<std::size_t> CutGraph::overwritten_by(const Node* leaf) const {
  return find_by_id(overwriting, leaf);
}

bool CutGraph::is_programs(UOp memory) const {
  while (!memory.is_null() && memory->op() == Op::Buffer) {
    const auto cut = cut_of(memory.node());
    if (!cut) return true;
    memory = cuts[*cut].before;
  }
  return false;
}

void keep_versions_apart(CutGraph& graph) {
  number(graph);
  follow(graph);
  if (graph.overwriting.empty()) return;
  const std::vector<const Node*> of_roots = lost_to_roots(graph);
  std::map<std::size_t, std::vector<const Node*>> lost_in = Precedence(graph).read_in_copies();
  for (std::size_t i = 0; i < graph.cuts.size(); ++i)
    for (const Node* leaf : lost_to(graph, graph.cuts[i])) lost_in[i].push_back(leaf);
  std::vector<const Node*> all_lost = of_roots;
  for (const auto& [cut, lost] : lost_in) all_lost.insert(all_lost.end(), lost.begin(), lost.end());
  if (all_lost.empty()) return;
  Substitution copies;
  for (const Node* leaf : all_lost) {
    BufferArg arg = leaf->arg<BufferArg>();
    arg.id = fresh_id();
    copies.try_emplace(leaf, make(Op::Buffer, sizes_of(UOp(leaf)), leaf->dtype(), arg));
  }
  // Each copy before what overwrites the memory, and before who reads the copy.
  std::map<std::size_t, std::set<std::size_t>> copies_before;
  for (const auto& [leaf, copy] : copies) {
    const auto overwriting = graph.overwritten_by(leaf);
    if (!overwriting) continue;
    std::size_t first = *overwriting;
    for (const auto& [cut, lost] : lost_in)
      if (std::ranges::find(lost, leaf) != lost.end()) first = std::min(first, cut);
    copies_before[first].insert(*overwriting);
  }
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < graph.cuts.size(); ++i) {
    for (const std::size_t overwriting : copies_before[i]) {
      const Cut& by = graph.cuts[overwriting];
      cuts.push_back({.leaf = copies.at(by.before.node()),
                      .value = by.before,
                      .must = true,
                      .device = by.device,
                      .origin = by.origin,
                      .follows = {}});
    }
    Cut& cut = graph.cuts[i];
    Substitution lost;
    for (const Node* leaf : lost_in[i]) lost.emplace(leaf, copies.at(leaf));
    cut.value = substitute(cut.value, lost);
    if (!cut.place.is_null()) cut.place = substitute(cut.place, lost);
    cuts.push_back(cut);
  }
  graph.cuts = std::move(cuts);
  Substitution shown;
  for (const Node* leaf : of_roots) shown.emplace(leaf, copies.at(leaf));
  for (UOp& root : graph.roots) root = substitute(root, shown);
  number(graph);
  follow(graph);
}

}  // namespace weft
