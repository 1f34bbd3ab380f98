// Merges two neighbouring loops into one if every access that depends on them indexes neighbouring
// dimensions with them, of which the inner loop covers the second completely. The dimensions are
// merged as well. A STAGE has these dimensions because loops fill it, so those loops are merged
// too, and so are all other loops that index the merged dimensions.

#include <weft/dev/codegen/merge_loops.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <weft/dev/ir/memory.h>

#include "fills.h"

namespace weft {
namespace {

struct Pair {
  const Node *outer, *inner;
  friend bool operator==(const Pair&, const Pair&) = default;
};

bool is_mergeable(const Node* outer, const Node* inner) {
  return outer->op() == Op::Range && inner->op() == Op::Range && outer != inner &&
         outer->src(0)->is_const() && inner->src(0)->is_const() &&
         kind_of(outer) == kind_of(inner) && is_plain_loop(outer);
}

// Whether a dimension may be merged with the next one.
bool may_be_joined(const Node* storage, std::size_t dimension) {
  if (storage->op() == Op::Param) return storage->dims()[dimension]->is_const();
  return storage->op() == Op::Stage && storage->arg<StageArg>().layout.empty() &&
         is_mergeable(storage->src(dimension + 1), storage->src(dimension + 2));
}

// Collects the pairs of loops that have to be merged together.
class Merging {
 public:
  explicit Merging(const Node* kernel) : order_(toposort(kernel)) {}

  bool can_merge(const Pair& first) {
    pairs_ = {first};
    joined_.clear();
    for (std::size_t seen = 0; seen < pairs_.size(); ++seen) {
      const Pair pair = pairs_[seen];  // a copy, since pairs_ may grow
      if (!add_what_follows(pair)) return false;
    }
    return std::ranges::none_of(order_, [&](const Node* node) {
      if (node->op() == Op::Index || node->size() == 0) return false;
      return is_value(node) ? uses_merged(node) : is_merged(node->src(0));
    });
  }

  UOp merged(const UOp& kernel) const {
    std::vector<UOp> made;
    NodeMap<std::size_t> place;
    const auto add = [&](const Node* node, UOp now) {
      place.set(node, made.size());
      made.push_back(std::move(now));
    };
    for (const auto& [outer, inner] : pairs_)
      add(outer, range_like(outer, outer->src(0)->lo() * inner->src(0)->lo()));
    const auto now = [&](const Node* node) { return made[*place.find(node)]; };
    for (const Node* node : order_)
      if (!place.contains(node)) add(node, rebuilt(node, now));
    return now(kernel.node());
  }

 private:
  // Whether the node uses ranges as values. Closers and AFTERs only list them.
  static bool is_value(const Node* node) {
    return !OpSet{Op::End, Op::Reduce, Op::Stage, Op::After}.contains(node->op());
  }
  bool is_merged(const Node* node) const {
    return std::ranges::any_of(
        pairs_, [&](const Pair& pair) { return node == pair.outer || node == pair.inner; });
  }
  bool uses_merged(const Node* node) const {
    return std::ranges::any_of(node->src(), [&](const Node* source) { return is_merged(source); });
  }

  // Adds the pairs that have to be merged along with this one, since all accesses to the memory
  // that it indexes have to agree. Returns false if that is impossible.
  bool add_what_follows(const Pair& pair) {
    for (const Node* node : order_) {
      if (node->op() == Op::Stage && !join_stage(node, pair)) return false;
      if (node->op() != Op::Index) continue;
      if (!changes_with(node, pair.outer) && !changes_with(node, pair.inner)) continue;
      const auto at = joined_at(node, pair);
      if (!at || !join(node->src(0), *at)) return false;
    }
    return true;
  }

  // Handles a pair of loops of a STAGE: merges the dimensions that they fill in all readers.
  // Returns true for other STAGEs, and false if the pair cannot be merged.
  bool join_stage(const Node* stage, const Pair& pair) {
    const NodeList own = stage->src().subspan(1);
    const auto at = std::ranges::find(own, pair.outer);
    if (at == own.end()) return !has_node(own, pair.inner);
    const auto d = static_cast<std::size_t>(at - own.begin());
    return d + 1 < own.size() && own[d + 1] == pair.inner && may_be_joined(stage, d) &&
           join(stage, d);
  }

  // Returns the position of the outer loop among the indices of an access; nothing if the pair
  // cannot be merged there.
  static std::optional<std::size_t> joined_at(const Node* index, const Pair& pair) {
    const Node* storage = index->src(0);
    const NodeList at = index->src().subspan(2);
    const auto d = static_cast<std::size_t>(std::ranges::find(at, pair.outer) - at.begin());
    const auto changes = [&](const Node* node) {
      return changes_with(node, pair.outer) || changes_with(node, pair.inner);
    };
    if (d + 1 >= at.size() || at[d + 1] != pair.inner || !may_be_joined(storage, d) ||
        std::ranges::count_if(index->src(), changes) != 2)
      return std::nullopt;
    const Node* size =
        storage->op() == Op::Param ? storage->dims()[d + 1] : storage->src(d + 2)->src(0);
    return size == pair.inner->src(0) ? std::optional(d) : std::nullopt;
  }

  // Merges two dimensions of the memory. Adds the loops that index them, and those that fill a
  // STAGE. Returns false if some access does not allow it.
  bool join(const Node* storage, std::size_t at) {
    const auto [known, is_new] = joined_.try_emplace(storage, at);
    if (!is_new) return known->second == at;
    if (storage->op() == Op::Stage) add({storage->src(at + 1), storage->src(at + 2)});
    for (const Node* node : order_) {
      if (node->op() != Op::Index || storage_of(node->src(0)) != storage) continue;
      if (node->src(0) != storage) return false;
      const Pair own{node->src(at + 2), node->src(at + 3)};
      if (!is_mergeable(own.outer, own.inner) || !are_neighbours(own) || !joined_at(node, own))
        return false;
      add(own);
    }
    return true;
  }

  void add(const Pair& pair) {
    if (std::ranges::find(pairs_, pair) == pairs_.end()) pairs_.push_back(pair);
  }

  bool are_neighbours(const Pair& pair) const {
    return std::ranges::any_of(order_, [&](const Node* node) {
      const auto at = std::ranges::find(node->src(), pair.outer);
      return OpSet{Op::End, Op::Reduce, Op::Stage}.contains(node->op()) &&
             at != node->src().end() && at + 1 != node->src().end() && at[1] == pair.inner;
    });
  }

  template <class Now>
  UOp rebuilt(const Node* node, const Now& now) const {
    std::vector<UOp> src;
    for (const Node* source : node->src()) src.push_back(now(source));
    const bool is_place = node->op() == Op::Index;
    const auto joined = joined_.find(is_place ? node->src(0) : node);
    if (joined != joined_.end() && node->op() != Op::Stage) {
      const auto d = static_cast<std::ptrdiff_t>(joined->second);
      if (!is_place)
        src[joined->second] =
            const_int(node->src(joined->second)->lo() * node->src(joined->second + 1)->lo());
      src.erase(src.begin() + (is_place ? d + 3 : d + 1));
    } else if (!is_value(node)) {
      std::erase_if(src, [&](const UOp& source) {
        return std::ranges::find(pairs_, source.node(), &Pair::inner) != pairs_.end();
      });
    }
    return with_sources(UOp(node), src);
  }

  std::vector<const Node*> order_;
  std::vector<Pair> pairs_;
  std::map<const Node*, std::size_t> joined_;  // the first of the two merged dimensions, by memory
};

// Merges the first pair of loops that can be merged; returns a null handle if there is none.
UOp merged_once(const UOp& kernel) {
  Merging merging(kernel.node());
  for (const Node* closer : toposort(kernel.node())) {
    if (!OpSet{Op::End, Op::Reduce}.contains(closer->op())) continue;
    for (std::size_t i = 1; i + 1 < closer->size(); ++i) {
      const Pair pair{closer->src(i), closer->src(i + 1)};
      if (is_mergeable(pair.outer, pair.inner) && merging.can_merge(pair))
        return merging.merged(kernel);
    }
  }
  return {};
}

}  // namespace

UOp merge_loops(const UOp& kernel) {
  UOp result = kernel;
  for (UOp next = result; !next.is_null(); next = merged_once(result)) result = next;
  return result;
}

}  // namespace weft
