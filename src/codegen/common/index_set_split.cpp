// Index-set splitting: splits a loop into sections if conditions on its range change often or
// select which memory is read. Within a section each condition is constant. An element of a concat
// then reads one input instead of selecting among all.
//
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/rules/turns.h>
#include <weft/settings.h>

#include "loops.h"

namespace weft {
namespace {

// Fewest sections that a loop is split into. A few conditions cost less than more loops, unless
// they select among buffers, which may have different layouts.
constexpr std::size_t least_sections = 4, least_sections_of_buffers = 2;
// Limits on code size: each section copies the whole body, including what no condition selects.
constexpr std::size_t most_nodes_each = 24, most_nodes = std::size_t{1} << 16;

// The range of a loop and the boundaries of its sections, from 0 to its size.
struct Cuts {
  const Node* range = nullptr;
  std::vector<std::int64_t> ends;

  std::size_t sections() const { return ends.empty() ? 1 : ends.size() - 1; }
};

// Returns whether conditions on the range select among several buffers.
bool reads_several_memories(const std::vector<const Node*>& slice, const Node* range) {
  std::set<const Node*> memories;
  for (const Node* node : slice)
    if (node->op() == Op::Load && changes_with(node->src(0)->src(1), range))
      memories.insert(node->src(0)->src(0));
  return memories.size() > 1;
}

Cuts cuts_of(const Node* effect, const Node* range) {
  Cuts cuts{range, {}};
  if (!range->src(0)->is_const() || kind_of(range) != LoopKind::Loop) return cuts;
  const std::int64_t size = range->src(0)->lo();
  const std::vector<const Node*> slice = slice_of(effect, range);
  for (const Node* node : slice) add_turns(node, range, cuts.ends);
  cuts.ends = section_ends(std::move(cuts.ends), size);
  const bool is_small = slice.size() <= cuts.sections() * most_nodes_each &&
                        slice.size() * cuts.sections() <= most_nodes;
  const std::size_t least =
      reads_several_memories(slice, range) ? least_sections_of_buffers : least_sections;
  if (cuts.sections() < least || !is_small) cuts.ends.clear();
  return cuts;
}

// Returns whether the effect only stores elements, in an order that does not matter. Nested loops
// would have to be closed again in each section, and an address that is loaded from memory may be
// written twice.
bool is_splittable(const Node* effect) {
  for (const Node* node : toposort(effect)) {
    if (has(node->op(), OpFlag::Closes)) return false;
    if (node->op() != Op::Store) continue;
    const std::vector<const Node*> place = toposort(node->src(0));
    if (std::ranges::any_of(place, [](const Node* part) { return part->op() == Op::Load; }))
      return false;
  }
  return true;
}

// Returns the effect without stores whose condition is always false; null if none is left.
UOp without_dead_stores(const UOp& effect) {
  std::vector<UOp> stores = list_members(effect);
  std::erase_if(stores, [](const UOp& store) {
    return store->op() == Op::Store && store->src(0)->src(1)->is_const_int(0);
  });
  if (stores.empty()) return {};
  return stores.size() == 1 ? stores[0] : tuple(stores);
}

// Returns the loops of the END, except `outer`, with the range restricted to [first, stop). Their
// ranges are new, since a RANGE is closed once. Returns null if the section stores nothing.
UOp section(const UOp& end, const Node* outer, const Node* range, std::int64_t first,
            std::int64_t stop) {
  Substitution iterations;
  std::vector<UOp> loops;
  for (const Node* old : end->src().subspan(1)) {
    if (old == outer) continue;
    const bool is_cut = old == range;
    const UOp size = is_cut ? const_int(stop - first, old->src(0)->dtype()) : UOp(old->src(0));
    UOp iteration = const_int(0, old->dtype());
    if (!size->is_const_int(1)) {
      iteration = range_like(old, size);
      loops.push_back(iteration);
    }
    iterations.emplace(old, is_cut ? iteration + first : iteration);
  }
  const UOp effect = without_dead_stores(simplify(substitute(end.src(0), iterations)));
  return effect.is_null() ? effect : closed_over(end, effect, loops);
}

// Returns the cuts of the range that has most sections.
Cuts best_cuts(const Node* end) {
  Cuts best;
  if (end->op() != Op::End || !is_splittable(end->src(0))) return best;
  for (const Node* range : end->src().subspan(1))
    if (Cuts cuts = cuts_of(end->src(0), range); cuts.sections() > best.sections())
      best = std::move(cuts);
  return best;
}

// Splits an END into sections. Threads share its outermost loop, which stays around all sections.
UOp in_sections(const Match& m) {
  const UOp end(m.root());
  const Cuts best = best_cuts(end.node());
  if (best.range == nullptr) return {};
  const auto* target = m.context<Target>();
  const bool has_threads = target != nullptr && target->machine.workers() > 1;
  const Node* first = end->src(1);
  const Node* outer = has_threads && first != best.range ? first : nullptr;
  std::vector<UOp> sections;
  for (std::size_t i = 0; i < best.sections(); ++i)
    if (UOp each = section(end, outer, best.range, best.ends[i], best.ends[i + 1]); !each.is_null())
      sections.push_back(std::move(each));
  if (sections.empty()) return {};
  return outer == nullptr ? tuple(sections) : make(Op::End, {tuple(sections), UOp(outer)});
}

}  // namespace

std::vector<UOp> index_set_split(const std::vector<UOp>& roots, const RewriteOptions& options) {
  const auto is_cut = [](const Node* node) { return best_cuts(node).range != nullptr; };
  if (setting_int("NOOPT") != 0 || std::ranges::none_of(toposort(nodes_of(roots)), is_cut))
    return roots;
  // Work-items that take different branches cost less than loops that no work-group can share.
  const auto* target = options.context.get<Target>();
  if (target != nullptr && target->machine.has_groups()) return roots;
  static const RuleSet rules{"index_set_split", {rule(node(Op::End), in_sections)}};
  return simplify(rewrite_once(roots, rules, options),
                  {.pass = options.pass, .trace = options.trace});
}

}  // namespace weft
