#include "mma_merges.h"

#include <algorithm>

#include "mma_kernel.h"
#include "stores.h"

namespace weft {
namespace {

constexpr std::int64_t few_trips = 64;

// Whether what the kernel stores goes on in the next trip of the outer one where all trips of the inner one end.
bool follow(const KernelLoops& loops, const Node* outer, const Node* inner) {
  const auto is_known = [](const Node* loop) { return loop->src(0)->is_const(); };
  if (!is_known(outer) || !is_known(inner) || inner->src(0)->lo() >= few_trips) return false;
  const Node* end = loops.kernel()->src(0);
  if (loops.closer_of(outer) != end || loops.closer_of(inner) != end) return false;
  const auto go_on = [&](const Node* store) {
    if (store->op() != Op::Store) return false;
    const std::int64_t step = first_step(store, inner);
    return step > 0 && first_step(store, outer) == step * inner->src(0)->lo();
  };
  return std::ranges::any_of(stores_of(end), go_on);
}

// Of two loops each.
std::vector<Action> merges_of(const KernelLoops& loops) {
  const std::vector<NamedLoop> names = loops.names();
  std::vector<Action> found;
  for (const NamedLoop& outer : names)
    for (const NamedLoop& inner : names)
      if (outer.range != inner.range && follow(loops, outer.range, inner.range))
        found.push_back({.type = Action::Merge, .name = {}, .loops = {outer.name, inner.name}});
  return found;
}

bool have_one_in_common(const Schedule& merges, const Action& merge) {
  return std::ranges::any_of(merges, [&](const Action& other) {
    return std::ranges::find_first_of(other.loops, merge.loops) != other.loops.end();
  });
}

}  // namespace

std::vector<Schedule> merges_that_fill(const KernelLoops& loops) {
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
