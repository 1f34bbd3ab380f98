#include "mma_merges.h"

#include <algorithm>

#include "mma_kernel.h"
#include "schedule/actions/stores.h"

namespace weft {
namespace {

constexpr std::int64_t few_iterations = 64;

// Returns the accesses that decide whether loops follow one another in memory: the stores for
// output loops, and the reads that are not prepacked for loops of a sum.
std::vector<const Node*> accesses_in(const KernelLoops& loops, const Node* closer) {
  std::vector<const Node*> found;
  if (closer == loops.kernel()->src(0)) {
    for (const Node* store : stores_of(closer))
      if (store->op() == Op::Store) found.push_back(store);
  } else if (closer->op() == Op::Reduce) {
    for (const NamedRead& read : loops.reads())
      if (depends_on(closer, read.load) && !can_prepack(read.load)) found.push_back(read.load);
  }
  return found;
}

// Returns whether each iteration of the outer loop continues in memory where the previous one
// ended, and the inner loop is short.
bool are_contiguous(const KernelLoops& loops, const Node* outer, const Node* inner) {
  const auto is_known = [](const Node* loop) { return loop->src(0)->is_const(); };
  if (!is_known(outer) || !is_known(inner) || inner->src(0)->lo() >= few_iterations) return false;
  const Node* closer = loops.closer_of(outer);
  if (loops.closer_of(inner) != closer) return false;
  return std::ranges::any_of(accesses_in(loops, closer), [&](const Node* access) {
    const std::int64_t step = first_step(access, inner);
    return step > 0 && first_step(access, outer) == step * inner->src(0)->lo();
  });
}

std::vector<Action> merges_of(const KernelLoops& loops) {
  const std::vector<NamedLoop> names = loops.names();
  std::vector<Action> found;
  for (const NamedLoop& outer : names)
    for (const NamedLoop& inner : names)
      if (outer.range != inner.range && are_contiguous(loops, outer.range, inner.range))
        found.push_back({.type = Action::Merge, .name = {}, .loops = {outer.name, inner.name}});
  return found;
}

bool have_one_in_common(const Schedule& merges, const Action& merge) {
  return std::ranges::any_of(merges, [&](const Action& other) {
    return std::ranges::find_first_of(other.loops, merge.loops) != other.loops.end();
  });
}

}  // namespace

std::vector<Schedule> tile_filling_merges(const KernelLoops& loops) {
  std::vector<Schedule> all{{}};
  for (const Action& merge : merges_of(loops))
    for (std::size_t i = 0, count = all.size(); i < count; ++i)
      if (!have_one_in_common(all[i], merge)) {
        all.push_back(all[i]);
        all.back().push_back(merge);
      }
  all.erase(all.begin());
  return all;
}

}  // namespace weft
