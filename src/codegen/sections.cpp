// Loops in sections, where conditions on their range change again and again: within a section each has
// one answer. So an element of many joined tensors reads one of them, instead of choosing among all.
//
// A traversal and not a rule: where to cut is read off everything inside of a loop.

#include <algorithm>
#include <utility>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/rules/turns.h>
#include <weft/settings.h>

#include "traversal.h"

namespace weft {
namespace {

constexpr std::size_t least_sections = 4;  // a few conditions cost less than loops
// What is not chosen among is copied as well.
constexpr std::size_t most_nodes_each = 24, most_nodes = std::size_t{1} << 16;

// The range of a loop, and where its sections begin and end.
struct Cuts {
  const Node* range = nullptr;
  std::vector<std::int64_t> ends;

  std::size_t sections() const { return ends.empty() ? 1 : ends.size() - 1; }
};

Cuts cuts_of(const Node* effect, const Node* range) {
  Cuts cuts{range, {}};
  if (!range->src(0)->is_const() || range->arg<RangeArg>().kind != LoopKind::Loop) return cuts;
  const std::int64_t size = range->src(0)->lo();
  const std::vector<const Node*> slice = slice_of(effect, range);
  for (const Node* node : slice) add_turns(node, range, cuts.ends);
  cuts.ends = section_ends(std::move(cuts.ends), size);
  const bool is_small = slice.size() <= cuts.sections() * most_nodes_each &&
                        slice.size() * cuts.sections() <= most_nodes;
  if (cuts.sections() < least_sections || !is_small) cuts.ends.clear();
  return cuts;
}

// Nothing but elements, each with a place of its own whatever the order: what is closed inside would
// have to be closed again, and a place that is read from memory may be written twice.
bool is_plain(const Node* effect) {
  for (const Node* node : toposort(effect)) {
    if (has(node->op(), OpFlag::Closes)) return false;
    if (node->op() != Op::Store) continue;
    const std::vector<const Node*> place = toposort(node->src(0));
    if (std::ranges::any_of(place, [](const Node* part) { return part->op() == Op::Load; }))
      return false;
  }
  return true;
}

// All loops of the END, from one cut to the next: a RANGE is closed once, so they are new.
UOp section(const UOp& end, const Node* range, std::int64_t first, std::int64_t stop) {
  Substitution trips;
  std::vector<UOp> loops;
  for (const Node* old : end->src().subspan(1)) {
    const bool is_cut = old == range;
    const UOp size = is_cut ? const_int(stop - first, old->src(0)->dtype()) : UOp(old->src(0));
    UOp trip = const_int(0, old->dtype());
    if (!size->is_const_int(1)) {
      trip = weft::range(size, fresh_id().value, old->arg<RangeArg>().kind);
      loops.push_back(trip);
    }
    trips.emplace(old, is_cut ? trip + first : trip);
  }
  const UOp effect = substitute(end.src(0), trips);
  if (loops.empty()) return effect;
  loops.insert(loops.begin(), effect);
  return make(Op::End, loops);
}

// Those of the range that has most.
Cuts best_cuts(const Node* end) {
  Cuts best;
  if (end->op() != Op::End || !is_plain(end->src(0))) return best;
  for (const Node* range : end->src().subspan(1))
    if (Cuts cuts = cuts_of(end->src(0), range); cuts.sections() > best.sections())
      best = std::move(cuts);
  return best;
}

UOp in_sections(const UOp& end) {
  const Cuts best = best_cuts(end.node());
  if (best.range == nullptr) return end;
  std::vector<UOp> sections;
  for (std::size_t i = 0; i < best.sections(); ++i)
    sections.push_back(section(end, best.range, best.ends[i], best.ends[i + 1]));
  return tuple(sections);
}

class Sections {
 public:
  explicit Sections(NodeList roots) {
    for (const Node* node : toposort(roots)) {
      std::vector<UOp> src;
      for (const Node* source : node->src()) src.push_back((*this)[source]);
      made_.set(node, in_sections(with_sources(UOp(node), src)).node());
    }
  }

  UOp operator[](const Node* node) const { return UOp(*made_.find(node)); }

 private:
  NodeMap<const Node*> made_;
};

}  // namespace

std::vector<UOp> sections(const std::vector<UOp>& roots, const RewriteOptions& options) {
  const auto is_cut = [](const Node* node) { return best_cuts(node).range != nullptr; };
  if (setting_int("NOOPT") != 0 || std::ranges::none_of(toposort(nodes_of(roots)), is_cut))
    return roots;
  return simplify(traversed<Sections>(roots), {.pass = options.pass, .trace = options.trace});
}

}  // namespace weft
