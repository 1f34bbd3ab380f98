// Assignments: memory has versions, and a leaf for each.

#include <algorithm>

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
  std::vector<const Node*> all_lost = of_roots;
  for (const Cut& cut : graph.cuts) {
    const std::vector<const Node*> lost = lost_to(graph, cut);
    all_lost.insert(all_lost.end(), lost.begin(), lost.end());
  }
  if (all_lost.empty()) return;
  Substitution copies;
  for (const Node* leaf : all_lost) {
    BufferArg arg = leaf->arg<BufferArg>();
    arg.id = fresh_id();
    copies.try_emplace(leaf, make(Op::Buffer, sizes_of(UOp(leaf)), leaf->dtype(), arg));
  }
  std::vector<Cut> cuts;
  for (Cut& cut : graph.cuts) {
    if (const auto copy = cut.before.is_null() ? copies.end() : copies.find(cut.before.node());
        copy != copies.end())
      cuts.push_back({.leaf = copy->second,
                      .value = cut.before,
                      .must = true,
                      .device = cut.device,
                      .origin = cut.origin,
                      .follows = {}});
    Substitution lost;
    for (const Node* leaf : lost_to(graph, cut)) lost.emplace(leaf, copies.at(leaf));
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
