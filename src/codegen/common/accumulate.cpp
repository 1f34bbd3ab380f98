// Lowers REDUCE to an accumulator register and a loop that updates it.
//
// A traversal, not a rule set: whether two reductions may share a loop depends on the whole graph.
// The level of a node is the largest number of reductions on a path from it to a leaf. Reductions
// of one level cannot depend on one another. Rebuilding level by level ensures that all operands of
// a group precede its first member.

#include <algorithm>
#include <map>
#include <ranges>

#include <weft/dev/codegen/accumulator.h>
#include <weft/dev/codegen/lower.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "cascade.h"
#include "filled_alike.h"
#include "loops.h"
#include "traversal.h"

namespace weft {
namespace {

using Group = std::vector<const Node*>;  // reductions that share a loop

// The only element of an accumulator, after what has to run before.
UOp element_after(const UOp& buffer, const std::vector<UOp>& before) {
  return place_in(with_list(Op::After, buffer, before), {});
}

// With this many accumulators in a loop, other additions hide the latency of each one.
constexpr std::size_t sums_hiding_latency = 8;
// The longest chain of products that takes in the running sum. Each product rounds the sum, so that
// longer chains would lose accuracy.
constexpr int longest_product_chain = 4;

bool are_few_products(const Node* value) {
  int products = 0;
  for (; value->op() == Op::MulAcc && products <= longest_product_chain; value = value->src(2))
    ++products;
  return products <= longest_product_chain;
}

// Makes `sum` the addend of the innermost of chained matrix products.
UOp into_product(const UOp& sum, const UOp& product) {
  const UOp others = product.src(2);
  return with_sources(product, {product.src(0), product.src(1),
                                others->op() == Op::Mma ? into_product(sum, others) : sum});
}

// Adds the value to the sum. A matrix product always takes the sum as its addend, in place of
// zeros. A short chain of products does so too, which saves an addition, if enough other
// accumulators hide the latency of the chain.
UOp combined(Op op, const UOp& sum, const UOp& value, bool fuses, bool is_one_of_many) {
  if (value->op() == Op::Mma) return into_product(sum, value);
  return is_one_of_many && are_few_products(value.node()) ? added_behind(sum, op, value, fuses)
                                                          : added_to(sum, op, value, fuses);
}

// The accumulator of one reduced value.
class Accumulator {
 public:
  // `around` are the ranges of the enclosing loops; it is initialised in each of their iterations.
  Accumulator(Op op, const UOp& value, const std::vector<UOp>& around,
              const std::vector<UOp>& loops, bool fuses, bool is_one_of_many) {
    const DType dtype = accumulator_of(op, value->dtype());
    buffer_ = memory_for({}, dtype, Space::Register);
    std::vector<UOp> before{store_at(element_after(buffer_, around), identity_of(op, dtype))};
    before.insert(before.end(), loops.begin(), loops.end());
    const UOp now = element_after(buffer_, before);
    update_ = store_at(
        now, combined(op, make(Op::Load, {now}), cast(value, dtype), fuses, is_one_of_many));
  }

  const UOp& update() const { return update_; }
  UOp result(const UOp& end) const { return make(Op::Load, {element_after(buffer_, {end})}); }

 private:
  UOp buffer_, update_;
};

// Returns whether the loop carries memory that was filled before it from one iteration to the next.
// Its iterations then have to stay in one loop.
bool has_loop_carried_memory(const Node* reduce) {
  const NodeList own = reduce->src().subspan(1);
  const auto is_own = [&](const Node* range) { return std::ranges::find(own, range) != own.end(); };
  const auto is_before = [&](const Node* effect) {
    return effect->dtype().is_void() && effect->op() != Op::Range &&
           std::ranges::none_of(effect->ranges(), is_own);
  };
  return std::ranges::any_of(toposort(reduce->src(0)), [&](const Node* node) {
    return OpSet{Op::After, Op::Barrier}.contains(node->op()) &&
           std::ranges::any_of(node->src(), is_own) && std::ranges::any_of(node->src(), is_before);
  });
}

class Accumulate : public Rebuilt {
 public:
  Accumulate(NodeList roots, bool fuses) : order_(toposort(roots)), filled_(order_), fuses_(fuses) {
    find_levels();
    // Outer reductions first: inner ones can share a loop only if the loops around them do.
    for (const auto& [level, nodes] : levels_ | std::views::reverse)
      for (const Node* node : nodes)
        if (node->op() == Op::Reduce && node->size() > 1) join(node);
    for (const Group& group : groups_) block_long_sum(group);
    for (const auto& [level, nodes] : levels_)
      for (const Node* node : nodes) rebuild(node);
  }

 private:
  // What a group has in common: level, enclosing loops, and sizes and kinds of the ranges.
  using Key = std::vector<std::uint64_t>;

  void find_levels() {
    for (const Node* node : order_) {
      std::uint32_t level = 0;
      for (const Node* source : node->src()) level = std::max(level, *level_.find(source));
      level += node->op() == Op::Reduce;
      level_.set(node, level);
      levels_[level].push_back(node);
    }
  }

  const Node* leader_of(const Node* range) const {
    const Node* const* leader = leader_.find(range);
    return leader == nullptr ? range : *leader;
  }

  Key key_of(const Node* reduce) const {
    Key key{*level_.find(reduce)};
    for (const Node* range : reduce->ranges()) key.push_back(leader_of(range)->id());
    for (const Node* range : reduce->src().subspan(1)) {
      key.push_back(std::uint64_t{range->src(0)->id()} << 8 |
                    static_cast<std::uint64_t>(kind_of(range)) | std::uint64_t{1} << 63);
    }
    return key;
  }

  // Adds a reduction to its group. The ranges of the first member replace those of the others.
  void join(const Node* reduce) {
    const auto [found, is_new] =
        by_key_.try_emplace(key_of(reduce), static_cast<std::uint32_t>(groups_.size()));
    if (is_new) groups_.emplace_back();
    Group& group = groups_[found->second];
    group.push_back(reduce);
    group_.set(reduce, found->second);
    for (std::size_t i = 1; i < reduce->size(); ++i) leader_.set(reduce->src(i), group[0]->src(i));
  }

  // Blocks a long float sum: expressions of the cascade's loops replace its ranges.
  void block_long_sum(const Group& group) {
    const auto is_rounded = [](const Node* reduce) {
      return reduce->arg<ReduceArg>().op == Op::Add &&
             std::ranges::any_of(members_in(reduce), [](auto member) {
               return member->dtype().is_float() && member->op() != Op::Mma;
             });
    };
    const NodeList ranges = group[0]->src().subspan(1);
    cascades_.push_back(std::ranges::any_of(group, is_rounded) ? blocked_sum_of(ranges)
                                                               : BlockedSum());
    if (!cascades_.back().iterations.empty() && std::ranges::any_of(group, has_loop_carried_memory))
      cascades_.back() = {};
    const std::vector<UOp>& iterations = cascades_.back().iterations;
    for (std::size_t i = 0; i < iterations.size(); ++i) set(ranges[i], iterations[i]);
  }

  // Appends the loops of the expression that a range has become.
  void add_loops(std::vector<UOp>& list, const Node* range) const {
    for (const Node* loop : (*this)[range]->ranges()) list.emplace_back(loop);
  }

  void rebuild(const Node* node) {
    if (contains(node)) return;
    if (const Node* leader = leader_of(node); leader != node) {
      rebuild(leader);
      return set(node, (*this)[leader]);
    }
    if (const std::uint32_t* group = group_.find(node)) return reduce(groups_[*group]);
    std::vector<UOp> src;
    for (const Node* source : node->src()) {
      if (OpSet{Op::After, Op::Barrier}.contains(node->op()) && source->op() == Op::Range)
        add_loops(src, source);
      else
        src.push_back((*this)[source]);
    }
    UOp result = with_sources(UOp(node), src);
    if (node->op() == Op::GetTuple && member_of(result.node()) != nullptr)
      result = UOp(member_of(result.node()));
    if (node->op() == Op::After) result = filled_.representative_of(node, result);
    set(node, result);
  }

  void reduce(const Group& group) {
    const Node* first = group[0];
    std::vector<UOp> loops, around, values;
    for (const Node* range : first->ranges()) add_loops(around, range);
    for (const Node* node : group)
      for (const Node* member : members_in(node)) values.push_back((*this)[member]);
    const BlockedSum& cascade = cascades_[*group_.find(first)];
    if (cascade.iterations.empty()) {
      for (const Node* range : first->src().subspan(1)) loops.push_back((*this)[range]);
      values = added_up(group, values, around, loops);
    } else {
      values = added_up(group, values, around, cascade);
    }
    auto next = values.begin();
    for (const Node* node : group) {
      std::vector<UOp> results;
      for (const Node* member : members_in(node)) results.push_back(cast(*next++, member->dtype()));
      const bool is_list = node->src(0)->op() == Op::Tuple;
      set(node, is_list ? tuple(results) : results[0]);
    }
  }

  std::vector<UOp> added_up(const Group& group, const std::vector<UOp>& values,
                            const std::vector<UOp>& around, const BlockedSum& cascade) const {
    std::vector<UOp> inside = around;
    inside.insert(inside.end(), cascade.outer.begin(), cascade.outer.end());
    const std::vector<UOp> blocks = added_up(group, values, inside, cascade.inner);
    std::vector<UOp> sums = added_up(group, blocks, around, cascade.outer);
    if (cascade.rest.empty()) return sums;
    const UOp copies = remainder_body(tuple(values), cascade);
    const std::vector<UOp> left =
        added_up(group, {copies->src().begin(), copies->src().end()}, around, cascade.rest);
    std::size_t i = 0;
    for (const Node* node : group)
      for (std::size_t member = 0; member < members_in(node).size(); ++member, ++i)
        sums[i] = make(node->arg<ReduceArg>().op, {sums[i], left[i]});
    return sums;
  }

  // Reduces a whole group in one loop nest. The results have the dtypes of the accumulators.
  std::vector<UOp> added_up(const Group& group, const std::vector<UOp>& values,
                            const std::vector<UOp>& around, std::vector<UOp> loops) const {
    std::vector<Accumulator> accumulators;
    std::vector<UOp> updates, results;
    for (const Node* node : group)
      for (std::size_t i = 0; i < members_in(node).size(); ++i) {
        const UOp& value = values[accumulators.size()];
        accumulators.emplace_back(node->arg<ReduceArg>().op, value, around, loops, fuses_,
                                  values.size() >= sums_hiding_latency);
        updates.push_back(accumulators.back().update());
      }
    loops.insert(loops.begin(), updates.size() == 1 ? updates[0] : tuple(updates));
    const UOp end = make(Op::End, loops);
    for (const Accumulator& accumulator : accumulators) results.push_back(accumulator.result(end));
    return results;
  }

  std::vector<const Node*> order_;
  BufferMerger filled_;
  bool fuses_;
  NodeMap<std::uint32_t> level_, group_;
  std::map<std::uint32_t, std::vector<const Node*>> levels_;
  NodeMap<const Node*> leader_;
  std::map<Key, std::uint32_t> by_key_;
  std::vector<Group> groups_;
  std::vector<BlockedSum> cascades_;  // by group
};

}  // namespace

std::vector<UOp> accumulate(const std::vector<UOp>& roots, const RewriteOptions& options) {
  const auto* target = options.context.get<Target>();
  return traversed<Accumulate>(roots, target != nullptr && target->ops.contains(Op::MulAcc));
}

}  // namespace weft
