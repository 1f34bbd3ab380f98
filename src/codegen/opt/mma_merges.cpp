#include "mma_merges.h"

#include <algorithm>
#include <string>

#include "mma_kernel.h"
#include "stores.h"

namespace weft {
namespace {

constexpr std::int64_t few_trips = 64;

class Merges {
 public:
  explicit Merges(const KernelLoops& loops) : loops_(loops) {}

  // Of two loops each.
  std::vector<Action> pairs() const {
    std::vector<Action> found;
    for (const NamedLoop& outer : loops_.names())
      for (const NamedLoop& inner : loops_.names())
        if (outer.range != inner.range && follow(outer.range, inner.range))
          found.push_back({.type = Action::Merge, .name = {}, .loops = {outer.name, inner.name}});
    return found;
  }

 private:
  // Whether what the kernel stores goes on in the next trip of the outer one where all trips of the inner one end.
  bool follow(const Node* outer, const Node* inner) const {
    const auto is_known = [](const Node* loop) { return loop->src(0)->is_const(); };
    if (!is_known(outer) || !is_known(inner) || inner->src(0)->lo() >= few_trips) return false;
    const Node* end = loops_.kernel()->src(0);
    if (loops_.closer_of(outer) != end || loops_.closer_of(inner) != end) return false;
    const auto go_on = [&](const Node* store) {
      if (store->op() != Op::Store) return false;
      const std::int64_t step = first_step(store, inner);
      return step > 0 && first_step(store, outer) == step * inner->src(0)->lo();
    };
    return std::ranges::any_of(stores_of(end), go_on);
  }

  const KernelLoops& loops_;
};

bool have_one_in_common(const Schedule& merges, const Action& merge) {
  return std::ranges::any_of(merges, [&](const Action& other) {
    return std::ranges::find_first_of(other.loops, merge.loops) != other.loops.end();
  });
}

}  // namespace

std::vector<Schedule> merges_that_fill(const KernelLoops& loops) {
  std::vector<Schedule> all{{}};
  for (const Action& merge : Merges(loops).pairs())
    for (std::size_t i = 0, count = all.size(); i < count; ++i)
      if (!have_one_in_common(all[i], merge)) {
        all.push_back(all[i]);
        all.back().push_back(merge);
      }
  all.erase(all.begin());
  return all;
}

}  // namespace weft
