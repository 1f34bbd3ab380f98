#include "step_chains.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include <weft/dev/base/hash.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>

#include "graph/reshape.h"

namespace weft {
namespace {

using Way = std::vector<std::int64_t>;  // by how much an offset grows along each axis

// Returns nothing unless both are slices of one tensor, of equal size and at constant offsets.
std::optional<Way> way_between(const Node* later, const Node* earlier) {
  if (!is_at_known_place(later) || !is_at_known_place(earlier) ||
      later->src(0) != earlier->src(0) || later->src(2) != earlier->src(2))
    return std::nullopt;
  Way way;
  for (std::size_t axis = 0; axis < later->dims().size(); ++axis)
    way.push_back(later->src(1)->src(axis)->lo() - earlier->src(1)->src(axis)->lo());
  return way;
}

// Returns the slice whose offset is smaller by `way`; null if it exceeds its tensor.
UOp part_before(const Node* part, const Way& way) {
  Sizes start;
  for (std::size_t axis = 0; axis < way.size(); ++axis) {
    const std::int64_t first = part->src(1)->src(axis)->lo() - way[axis];
    const std::int64_t most = part->src(0)->dims()[axis]->lo() - part->dims()[axis]->lo();
    if (first < 0 || first > most) return {};
    start.push_back(const_int(first));
  }
  return make(Op::Shrink, {UOp(part->src(0)), tuple(start), UOp(part->src(2))});
}

bool commutes(const Node* node) { return has(node->op(), OpFlag::Commutes); }

std::uint64_t hash_of_sizes(const Node* node) {
  if (node->shape() == nullptr) return 0;
  std::uint64_t hash = 1;
  for (const Node* size : node->dims())
    hash = hash_mix(hash, static_cast<std::uint64_t>(size->bounds().hi));
  return hash;
}

// Hashes the topmost levels of an expression, without movement. Counterparts in different steps
// have equal hashes: the order of operands that commute may differ from step to step.
std::uint64_t expression_hash(const Node* node, int depth) {
  while (is_movement(node)) node = node->src(0);
  std::uint64_t hash = hash_mix(static_cast<std::uint64_t>(node->op()), hash_of_sizes(node));
  if (node->op() == Op::Buffer) return hash_mix(hash, node->arg<BufferArg>().id.value);
  if (depth == 0) return hash;
  std::uint64_t in_any_order = 0;
  for (const Node* source : node->src()) {
    const std::uint64_t own = expression_hash(source, depth - 1);
    if (commutes(node))
      in_any_order += own;
    else
      hash = hash_mix(hash, own);
  }
  return hash_mix(hash, in_any_order);
}

// Pairs of a node of one step and its counterpart in the previous step.
class Pairs {
 public:
  explicit Pairs(const std::vector<const Node*>& nodes) : nodes_(nodes) {
    for (const Node* node : nodes) is_there_.set(node, true);
  }

  // Pairs two nodes and, recursively, their sources where these differ. Returns false if the pairs
  // do not form steps.
  bool begin(const Node* later, const Node* earlier) {
    std::vector<std::pair<const Node*, const Node*>> open{{later, earlier}};
    std::vector<const Node*> ends;
    while (!open.empty()) {
      const auto [b, a] = open.back();
      open.pop_back();
      if (a == b) continue;
      if (const Node* known = before(b)) {
        if (known != a) return false;
        continue;
      }
      add(b, a);
      if (way_between(b, a)) continue;
      if (!are_computed_alike(b, a)) {
        ends.push_back(b);
        continue;
      }
      const bool turns = is_turned(b, a);
      for (std::size_t i = 0; i < b->size(); ++i)
        open.emplace_back(b->src(i), a->src(turns ? 1 - i : i));
    }
    // Where the two sides are computed differently, the earlier one must be an initial value, and
    // the later one the result of a step. Otherwise the steps do not depend on each other.
    const auto is_made = [&](const Node* end) { return is_before_.contains(end); };
    return !ends.empty() && std::ranges::all_of(ends, is_made);
  }

  // Pairs the nodes that are computed from paired ones in the same way.
  void go_on() {
    for (const Node* node : nodes_) {
      if (before(node) != nullptr || node->size() == 0) continue;
      const UOp found = is_at_known_place(node) && before(node->src(0)) == nullptr
                            ? moved_before(node)
                            : made_before(node);
      if (!found.is_null() && found.node() != node) add(node, found.node());
    }
  }

  const Node* before(const Node* node) const {
    const Node* const* found = before_.find(node);
    return found != nullptr ? *found : nullptr;
  }

  std::vector<Chain> chains(std::size_t least_steps) const {
    std::vector<Chain> result;
    for (const Node* last : later_)
      if (!is_before_.contains(last)) add_chains(last, least_steps, result);
    return result;
  }

 private:
  void add(const Node* later, const Node* earlier) {
    before_.set(later, earlier);
    is_before_.set(earlier, true);
    later_.push_back(later);
    if (const auto way = way_between(later, earlier)) ways_[{later->src(0), later->src(2)}] = *way;
  }

  // Returns whether both are the same op of equal sizes and offsets, so that their sources pair.
  static bool are_computed_alike(const Node* b, const Node* a) {
    if (b->op() != a->op() || b->size() != a->size() || b->size() == 0) return false;
    if (b->dtype() != a->dtype() || b->shape() != a->shape()) return false;
    for (std::size_t i = is_movement(b) ? 1 : b->size(); i < b->size(); ++i)
      if (b->src(i) != a->src(i)) return false;
    return on_sources_of(b, a).node() == a;
  }

  // Returns whether the sources of a commutative op match better in swapped order.
  static bool is_turned(const Node* b, const Node* a) {
    if (!commutes(b)) return false;
    const auto fit = [&](std::size_t i, std::size_t j) {
      constexpr int depth = 3;
      if (b->src(i) == a->src(j)) return 2;
      return expression_hash(b->src(i), depth) == expression_hash(a->src(j), depth) ? 1 : 0;
    };
    return fit(0, 1) + fit(1, 0) > fit(0, 0) + fit(1, 1);
  }

  static UOp on_sources_of(const Node* node, const Node* other) {
    return with_sources(UOp(node), {other->src().begin(), other->src().end()});
  }

  UOp moved_before(const Node* node) const {
    const auto way = ways_.find({node->src(0), node->src(2)});
    return way == ways_.end() ? UOp() : known(part_before(node, way->second));
  }
  UOp known(const UOp& made) const {
    return !made.is_null() && is_there_.contains(made.node()) ? made : UOp();
  }
  // Tries both orders of the sources of a commutative op.
  UOp known(const Node* node, std::vector<UOp> sources) const {
    UOp found = known(with_sources(UOp(node), sources));
    if (!found.is_null() || !commutes(node)) return found;
    std::ranges::reverse(sources);
    return known(with_sources(UOp(node), sources));
  }

  UOp made_before(const Node* node) const {
    std::vector<UOp> sources;
    bool is_of_step = false;
    for (const Node* source : node->src()) {
      const Node* earlier = before(source);
      if (earlier != nullptr && earlier->shape() != source->shape()) return {};
      is_of_step = is_of_step || earlier != nullptr;
      sources.emplace_back(earlier != nullptr ? earlier : source);
    }
    return is_of_step ? known(node, std::move(sources)) : UOp();
  }

  // Returns for each source of the later node whether the earlier one has the same source; nothing
  // if the two are not computed in the same way.
  std::optional<std::vector<bool>> shared_sources(const Node* b, const Node* a) const {
    if (way_between(b, a)) return std::vector<bool>{};
    if (b->op() != a->op() || b->size() != a->size()) return std::nullopt;
    if (on_sources_of(b, a).node() != a) return std::nullopt;
    for (const bool turns : {false, true}) {
      if (turns && !commutes(b)) break;
      std::vector<bool> shared;
      for (std::size_t i = 0; i < b->size(); ++i) {
        const Node* earlier = a->src(turns ? 1 - i : i);
        const bool is_of_step = before(b->src(i)) == earlier;
        if (!is_of_step && earlier != b->src(i)) break;
        shared.push_back(!is_of_step);
      }
      if (shared.size() == b->size()) {
        if (commutes(b)) std::sort(shared.begin(), shared.end());
        return shared;
      }
    }
    return std::nullopt;
  }

  // Adds a chain for each run of consecutive steps that compute the value in the same way.
  void add_chains(const Node* last, std::size_t least_steps, std::vector<Chain>& result) const {
    Chain chain;
    const auto finish = [&] {
      if (chain.alike >= least_steps) result.push_back(std::move(chain));
      chain = {};
    };
    std::optional<std::vector<bool>> shared;  // of the pairs so far
    for (const Node *node = last, *earlier = nullptr; node != nullptr; node = earlier) {
      earlier = before(node);
      chain.nodes.push_back(node);
      ++chain.alike;
      if (earlier == nullptr) break;
      const auto further = way_between(node, earlier);
      const auto now = shared_sources(node, earlier);
      if (chain.alike == 1) {
        chain.further = further;
        shared = now;
      } else if (further != chain.further || (now && now != shared)) {
        finish();
        continue;
      }
      if (now) continue;
      if (earlier->shape() == node->shape()) chain.nodes.push_back(earlier);
      break;
    }
    finish();
  }

  const std::vector<const Node*>& nodes_;
  NodeMap<bool> is_there_, is_before_;
  NodeMap<const Node*> before_;
  std::vector<const Node*> later_;
  std::map<std::pair<const Node*, const Node*>, Way> ways_;
};

// A group of similar reductions, and the last two of them.
struct Group {
  std::size_t count = 0;
  const Node *last = nullptr, *before = nullptr;
};

// Returns the groups of at least this many, largest first.
std::vector<Group> seeds_of(const std::vector<const Node*>& nodes, std::size_t least_steps) {
  constexpr int depth = 4;
  std::unordered_map<std::uint64_t, Group> groups;
  for (const Node* node : nodes) {
    if (node->op() != Op::Reduce) continue;
    Group& group = groups[expression_hash(node, depth)];
    ++group.count;
    group.before = std::exchange(group.last, node);
  }
  std::vector<Group> found;
  for (const auto& [hash, group] : groups)
    if (group.count >= least_steps) found.push_back(group);
  std::ranges::sort(found, [](const Group& a, const Group& b) {
    return std::pair(b.count, a.last->id()) < std::pair(a.count, b.last->id());
  });
  return found;
}

}  // namespace

bool may_have_chains(const std::vector<UOp>& tensors, std::size_t least_steps) {
  return !seeds_of(toposort(nodes_of(tensors)), least_steps).empty();
}

bool find_chains(const std::vector<UOp>& tensors, std::size_t least_steps,
                 const std::function<bool(std::vector<Chain>)>& use) {
  const std::vector<const Node*> nodes = toposort(nodes_of(tensors));
  for (const Group& seed : seeds_of(nodes, least_steps)) {
    Pairs pairs(nodes);
    if (!pairs.begin(seed.last, seed.before)) continue;
    pairs.go_on();
    std::vector<Chain> chains = pairs.chains(least_steps);
    if (!chains.empty() && use(std::move(chains))) return true;
  }
  return false;
}

}  // namespace weft
