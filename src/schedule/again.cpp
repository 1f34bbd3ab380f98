#include "again.h"

#include <algorithm>
#include <map>
#include <ranges>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

namespace weft {
namespace {

constexpr std::size_t nowhere = Flow::nowhere;

class Copier {
 public:
  Copier(const CutGraph& graph, const Fusion& fusion, const Flow& flow, const Again& again)
      : graph_(graph),
        fusion_(fusion),
        flow_(flow),
        again_(again),
        is_made_of_copies_(graph.cuts.size()),
        place_(graph.cuts.size(), nowhere) {}

  CutGraph run() {
    find_made_of_copies();
    find_places();
    CutGraph result;
    result.roots = graph_.roots;
    for (std::size_t cut = 0; cut < graph_.cuts.size(); ++cut) {
      for (std::size_t copied : placed_before_[cut]) result.cuts.push_back(copy_of(copied, cut));
      result.cuts.push_back(is_late(cut) ? over_copies(graph_.cuts[cut]) : graph_.cuts[cut]);
      result.cuts.back().must = flow_.is_stored(cut);
    }
    return result;
  }

 private:
  bool is_late(std::size_t cut) const {
    return flow_.is_stored(cut) && flow_.step[cut] > again_.step;
  }

  // Late readers read a copy of these: of what is computed again, and of what has no memory and is made of that.
  void find_made_of_copies() {
    for (std::size_t cut = 0; cut < graph_.cuts.size(); ++cut) {
      const auto is_copied = [&](std::size_t source) { return is_made_of_copies_[source]; };
      is_made_of_copies_[cut] =
          again_.cuts[cut] ||
          (!flow_.is_stored(cut) && std::ranges::any_of(flow_.sources[cut], is_copied));
    }
  }

  // A copy goes before the first late cut that needs it. What is computed again has copies of its own of what gets
  // no memory: what is staged in one kernel cannot be staged in another.
  void find_places() {
    // With all that it is made of and that gets no memory.
    std::vector<bool> is_again = again_.cuts;
    for (std::size_t user = graph_.cuts.size(); user-- > 0;) {
      const std::size_t before = is_late(user) ? user : place_[user];
      if (before == nowhere) continue;
      for (std::size_t source : flow_.sources[user]) {
        const bool is_part = is_again[user] && !flow_.is_stored(source);
        if (!is_part && !is_made_of_copies_[source]) continue;
        place_[source] = std::min(place_[source], before);
        is_again[source] = is_again[source] || is_part;
      }
    }
    for (std::size_t cut = 0; cut < graph_.cuts.size(); ++cut)
      if (place_[cut] != nowhere) placed_before_[place_[cut]].push_back(cut);
  }

  Cut copy_of(std::size_t copied, std::size_t first_user) {
    Cut copy = graph_.cuts[copied];
    Substitution now;
    for (std::size_t source : flow_.sources[copied]) put_copy(source, now);
    copy.value = substitute(copy.value, now);
    BufferArg arg = copy.leaf->arg<BufferArg>();
    arg.id = fresh_id();
    copy.must = flow_.is_stored(copied);
    copy.leaf = make(Op::Buffer, sizes_of(copy.leaf), copy.leaf->dtype(), arg);
    if (const auto other = awaited(graph_, fusion_, flow_, copied, {again_.step, first_user}))
      copy.waits.push_back(graph_.cuts[*other].leaf);
    copies_.emplace(copied, copy.leaf);
    return copy;
  }

  Cut over_copies(Cut cut) const {
    Substitution now;
    for (const Node* leaf : leaves_of(cut))
      if (const auto source = graph_.cut_of(leaf); source && is_made_of_copies_[*source])
        put_copy(*source, now);
    cut.value = substitute(cut.value, now);
    if (!cut.place.is_null()) cut.place = substitute(cut.place, now);
    return cut;
  }

  void put_copy(std::size_t source, Substitution& now) const {
    if (const auto copy = copies_.find(source); copy != copies_.end())
      now.emplace(graph_.cuts[source].leaf.node(), copy->second);
  }

  const CutGraph& graph_;
  const Fusion& fusion_;
  const Flow& flow_;
  const Again& again_;
  std::vector<bool> is_made_of_copies_;
  std::vector<std::size_t> place_;  // of each cut's copy: before which cut; nowhere without one
  std::map<std::size_t, std::vector<std::size_t>> placed_before_;
  std::map<std::size_t, UOp> copies_;  // leaves, by cut
};

// Without what nobody reads any more.
CutGraph without_unread(CutGraph graph) {
  NodeMap<bool> read;
  for (const UOp& root : graph.roots)
    for (const Node* node : toposort(root.node())) read.set(node, true);
  std::vector<Cut> kept;
  for (Cut& cut : graph.cuts | std::views::reverse) {
    if (!read.contains(cut.leaf.node())) continue;
    for (const Node* leaf : leaves_of(cut)) read.set(leaf, true);
    for (const UOp& leaf : cut.waits) read.set(leaf.node(), true);
    if (!cut.before.is_null()) read.set(cut.before.node(), true);
    kept.push_back(std::move(cut));
  }
  std::ranges::reverse(kept);
  graph.cuts = std::move(kept);
  return graph;
}

}  // namespace

CutGraph with_copies(const CutGraph& graph, const Fusion& fusion, const Flow& flow,
                     const Again& again) {
  CutGraph result = without_unread(Copier(graph, fusion, flow, again).run());
  keep_versions_apart(result);
  return result;
}

}  // namespace weft
