// Vectorises loops that the schedule left plain. It takes an output range along which all accesses
// of a nest are contiguous or invariant, and otherwise such a range of a reduction. If loads are
// contiguous along another range than the stores, blocks of both ranges are transposed.
//
// This is a traversal and not a rewrite rule, since the choice for a loop depends on everything
// inside it, and outer loops choose before inner ones.

#include <algorithm>
#include <optional>
#include <ranges>

#include <weft/dev/codegen/lower.h>
#include <weft/dev/codegen/strides.h>
#include <weft/dev/cost/nest.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/settings.h>

#include "common/join_loops.h"
#include "common/loops.h"
#include "common/traversal.h"

namespace weft {
namespace {

constexpr std::size_t least_bytes = 16;           // narrower vectors are not worth it
constexpr std::uint32_t least_strided_lanes = 4;  // fewest lanes of a load with a short stride

// Processors have no vector instructions for these.
constexpr OpSet scalar_ops{Op::FloorDiv, Op::FloorMod, Op::CDiv, Op::CMod, Op::Mod};

constexpr auto has_lanes = is_range<LoopKind::Vector>;

// A range of a closer, and how many of its iterations become lanes. In blocks, `copies` iterations
// of `second_range` become copies, whose loads are transposed or whose stores are interleaved.
struct Choice {
  const Node* range = nullptr;
  std::uint32_t lanes = 0;
  const Node* second_range = nullptr;  // null: there are no blocks
  std::uint32_t copies = 0;
};

// Returns whether one iteration may store an element that another one loads. Such iterations must
// stay in order.
bool may_overlap(const Node* store, const Node* load) {
  const Node *to = store->src(0), *from = load->src(0);
  const Node *a = storage_of(to->src(0)), *b = storage_of(from->src(0));
  if (a == b) return to->size() != 3 || from->size() != 3 || to->src(2) != from->src(2);
  if (a->op() != Op::Param || b->op() != Op::Param) return false;
  const std::int32_t alias = a->arg<ParamArg>().alias;
  return alias != 0 && alias == b->arg<ParamArg>().alias;
}

bool are_independent(const std::vector<const Node*>& nodes) {
  for (const Node* store : nodes) {
    if (store->op() != Op::Store) continue;
    for (const Node* load : nodes)
      if (load->op() == Op::Load && may_overlap(store, load)) return false;
  }
  return true;
}

// Returns the stride of a flat place; nothing if it is not constant.
std::optional<std::int64_t> stride_of(const Node* place, const Strides& strides) {
  return place->size() == 3 ? strides.of(place->src(2)) : std::nullopt;
}

// The part of a loop's body that changes with its range.
class Body {
 public:
  Body(const Node* root, const Node* range) : slice_(slice_of(root, range)), range_(range) {}

  const std::vector<const Node*>& slice() const { return slice_; }

  // Returns the size of the largest value in bytes; nothing if a value cannot have lanes, or if
  // none changes with the range. Loads may be contiguous along `second_range` instead, or
  // have a short stride if `may_be_apart`. Stores may have the stride `written_apart`.
  std::optional<std::size_t> element_bytes(const Strides* second_range = nullptr,
                                           bool may_be_apart = false,
                                           std::int64_t written_apart = 1) const {
    if (slice_.empty()) return std::nullopt;  // equal iterations, but a sum counts all of them
    const Strides strides(slice_, range_);
    std::size_t bytes = 1;
    for (const Node* node : slice_) {
      const bool is_turned = second_range != nullptr && node->op() == Op::Index &&
                             node->src(1)->is_const_int(1) && stride_of(node, *second_range) == 1 &&
                             stride_of(node, strides);
      const bool is_strided = may_be_apart && node->op() == Op::Index && are_apart(node, strides);
      if (written_apart > 1 && is_written(node, strides, written_apart)) continue;
      if (!is_turned && !is_strided && !can_have_lanes(node, strides)) return std::nullopt;
      const DType dtype = node->dtype();
      if (!dtype.is_void() && !dtype.is_weak()) bytes = std::max(bytes, dtype.bytes());
    }
    return are_independent(slice_) ? std::optional(bytes) : std::nullopt;
  }

 private:
  static bool are_apart(const Node* place, const Strides& strides) {
    return has_short_stride(stride_of(place, strides).value_or(0), least_strided_lanes);
  }

  // Returns whether the node is a store with that stride, or the place of one.
  bool is_written(const Node* node, const Strides& strides, std::int64_t apart) const {
    const auto stores_to = [&](const Node* store) {
      return store->op() == Op::Store && !store->arg<StoreArg>().combine &&
             stride_of(store->src(0), strides) == apart;
    };
    return stores_to(node) || std::ranges::any_of(slice_, [&](const Node* store) {
             return stores_to(store) && store->src(0) == node;
           });
  }

  bool can_have_lanes(const Node* node, const Strides& strides) const {
    if (node->dtype().lanes() > 1) return false;
    switch (node->op()) {
      case Op::Load:
      case Op::Tuple: return true;
      case Op::Range: return node == range_;
      case Op::Store:
        return !node->arg<StoreArg>().combine && stride_of(node->src(0), strides) == 1;
      case Op::Index: return stride_of(node, strides) == 1;
      case Op::Reduce:
        return node->src(0)->op() != Op::Tuple &&
               std::ranges::none_of(node->src().subspan(1), [&](const Node* loop) {
                 return has_lanes(loop) || changes_with(loop->src(0), range_);
               });
      default: return is_elementwise(node->op()) && !scalar_ops.contains(node->op());
    }
  }

  std::vector<const Node*> slice_;
  const Node* range_;
};

// Returns as many lanes as a register has, but no more than there are iterations. It returns down
// to a quarter of that, at least `least`, if this leaves no remainder. Where a size is open, there is
// at least one block, or there may be two: the places of a single block do not depend on its loop, so
// that nothing shows that it may not run.
std::uint32_t lanes_for(const Node* size, std::uint32_t lanes, std::uint32_t least) {
  while (lanes > 0 && size->lo() < lanes && size->hi() < 2 * std::int64_t{lanes}) lanes /= 2;
  if (!size->is_const()) return lanes;
  for (std::uint32_t some = lanes; some >= least && some * 4 >= lanes; some /= 2)
    if (size->lo() % some == 0) return some;
  return lanes;
}

// The iterations of a range, split into blocks of lanes and a remainder.
struct Split {
  Split(const Node* range, std::uint32_t lanes) {
    const UOp size(range->src(0)), width = const_int(lanes, size->dtype());
    const UOp lane = weft::range(width, fresh_id().value, LoopKind::Vector);
    const UOp blocks = simplify(size / width), done = simplify(blocks * width);
    const UOp left = simplify(size - done);
    main.push_back(lane);
    main_iteration = lane;
    if (!blocks->is_const_int(1)) {
      main.insert(main.begin(), range_like(range, blocks));
      main_iteration = main[0] * width + lane;
    }
    if (left->is_const_int(0)) return;
    rest_iteration = done;
    if (left->is_const_int(1)) return;
    rest.push_back(range_like(range, left));
    rest_iteration = done + rest[0];
  }

  std::vector<UOp> main, rest;         // ranges of the vector loop and of the remainder loop
  UOp main_iteration, rest_iteration;  // what replaces the range; null if there is no remainder
};

class Vectorize : public Rebuilt {
 public:
  Vectorize(NodeList roots, int vector_bytes)
      : order_(toposort(roots)), bytes_(static_cast<std::uint32_t>(vector_bytes)) {
    for (const Node* node : order_ | std::views::reverse)
      if (node->op() == Op::End || node->op() == Op::Reduce) choose(node);
    for (const Node* node : order_) rebuild(node);
  }

 private:
  // Returns the number of elements of this size in a register.
  std::uint32_t most_lanes(std::size_t bytes) const {
    return bytes_ / static_cast<std::uint32_t>(bytes);
  }

  void choose(const Node* closer) {
    if (inside_.contains(closer) || !may_split(closer)) return;
    if (choose_transposed(closer) || choose_interleaved(closer)) return;
    if (choose_lanes(closer, false) || closer->op() == Op::Reduce) return;
    choose_lanes(closer, true);
  }

  bool choose_lanes(const Node* closer, bool may_be_apart) {
    for (const Node* range : closer->src().subspan(1) | std::views::reverse) {
      const Body body(closer->src(0), range);
      const auto bytes = body.element_bytes(nullptr, may_be_apart);
      if (!bytes) continue;
      const auto least = std::max(static_cast<std::uint32_t>((least_bytes + *bytes - 1) / *bytes),
                                  may_be_apart ? least_strided_lanes : 1);
      const std::uint32_t lanes = lanes_for(range->src(0), most_lanes(*bytes), least);
      if (lanes < least || lanes < 2) continue;
      if (has_invariant_sums(closer, range) &&
          (!range->src(0)->is_const() || range->src(0)->lo() % lanes != 0))
        continue;
      choose(closer, body, {range, lanes});
      return true;
    }
    return false;
  }

  // Returns whether a sum changes with the range, but not with all of the closer's ranges inside
  // it. The range must then stay outside these, so that the sum is computed once for all of their
  // iterations.
  static bool has_invariant_sums(const Node* closer, const Node* range) {
    const NodeList own = closer->src().subspan(1);
    const NodeList inside =
        own.subspan(static_cast<std::size_t>(std::ranges::find(own, range) - own.begin()) + 1);
    if (inside.empty()) return false;
    return std::ranges::any_of(toposort(closer->src(0)), [&](const Node* node) {
      return OpSet{Op::Reduce, Op::After}.contains(node->op()) && changes_with(node, range) &&
             std::ranges::any_of(inside, [&](auto loop) { return !changes_with(node, loop); });
    });
  }

  void choose(const Node* closer, const Body& body, const Choice& choice) {
    choices_.set(closer, choice);
    for (const Node* node : body.slice()) inside_.set(node, true);
  }

  // Chooses blocks of two ranges if stores are contiguous along one and loads along the other.
  // Blocks leave no remainder.
  bool choose_transposed(const Node* closer) {
    if (closer->op() != Op::End || !are_independent(toposort(closer->src(0)))) return false;
    for (const Node* range : closer->src().subspan(1) | std::views::reverse)
      for (const Node* second_range : closer->src().subspan(1)) {
        if (second_range == range || !range->src(0)->is_const() ||
            !second_range->src(0)->is_const())
          continue;
        const Strides strides(slice_of(closer->src(0), second_range), second_range);
        const Body body(closer->src(0), range);
        const auto bytes = body.element_bytes(&strides);
        if (!bytes || body.element_bytes()) continue;
        const std::uint32_t lanes = whole_blocks(range, most_lanes(*bytes)),
                            copies = whole_blocks(second_range, most_lanes(*bytes));
        if (lanes * *bytes < least_bytes || copies * *bytes < least_bytes) continue;
        choose(closer, body, {range, lanes, second_range, copies});
        return true;
      }
    return false;
  }

  // Chooses lanes along one range and copies along a last range of two or four iterations, along
  // which stores are contiguous. `interleave` merges the stores of the copies.
  bool choose_interleaved(const Node* closer) {
    if (closer->op() != Op::End || closer->size() < 3) return false;
    const Node *second_range = closer->src().back(), *copies = second_range->src(0);
    if (!copies->is_const_int(2) && !copies->is_const_int(4)) return false;
    const Strides strides(slice_of(closer->src(0), second_range), second_range);
    const Node* store = closer->src(0);
    if (store->op() != Op::Store || stride_of(store->src(0), strides) != 1) return false;
    for (const Node* range : closer->src().subspan(1) | std::views::reverse) {
      if (range == second_range || !range->src(0)->is_const()) continue;
      const Body body(store, range);
      const auto bytes = body.element_bytes(nullptr, false, copies->lo());
      if (!bytes) continue;
      const std::uint32_t lanes = whole_blocks(range, most_lanes(*bytes));
      if (lanes * *bytes < least_bytes) continue;
      choose(closer, body, {range, lanes, second_range, static_cast<std::uint32_t>(copies->lo())});
      return true;
    }
    return false;
  }

  // Halves `most` until it divides the iteration count.
  static std::uint32_t whole_blocks(const Node* range, std::uint32_t most) {
    while (range->src(0)->lo() % most != 0) most /= 2;
    return most;
  }

  // Returns whether the closer's loops may be split: it ends STOREs only or reduces a single value,
  // there are no lanes yet, and no schedule has given its loops a kind.
  static bool may_split(const Node* closer) {
    const Node* what = closer->src(0);
    if (std::ranges::any_of(what->ranges(), has_lanes)) return false;
    for (const Node* range : closer->src().subspan(1))
      if (kind_of(range) != LoopKind::Loop && kind_of(range) != LoopKind::Reduce) return false;
    if (closer->op() == Op::Reduce) return what->op() != Op::Tuple;
    return std::ranges::all_of(members_in(closer),
                               [](auto effect) { return effect->op() == Op::Store; });
  }

  void rebuild(const Node* node) {
    UOp result = with_new_sources(node);
    if (const Choice* choice = choices_.find(node))
      result = choice->second_range != nullptr ? blocked_loop(result, *choice)
                                               : split_loop(result, *choice);
    set(node, result);
  }

  // Returns the closer's ranges except the one that is split.
  static std::vector<UOp> around(const Node* closer, const Node* range) {
    std::vector<UOp> others;
    for (const Node* other : closer->src().subspan(1))
      if (other != range) others.emplace_back(other);
    return others;
  }

  // Keeps the other loops outside the vector loop and the remainder loop, which follow one another.
  // If an END has_invariant_sums(), the loop over blocks stays in place and only the lanes go
  // inside.
  UOp split_loop(const UOp& closer, const Choice& choice) const {
    const UOp range = (*this)[choice.range], body = closer.src(0);
    const Split split(range.node(), choice.lanes);
    const bool is_end = closer->op() == Op::End;
    const UOp main = substitute(body, {{range.node(), split.main_iteration}});
    if (is_end && split.rest_iteration.is_null() &&
        has_invariant_sums(closer.node(), range.node())) {
      std::vector<UOp> loops;
      for (const Node* loop : closer->src().subspan(1)) {
        if (loop != range.node()) loops.emplace_back(loop);
        if (loop == range.node() && split.main.size() > 1) loops.push_back(split.main[0]);
      }
      loops.push_back(split.main.back());
      return closed_over(closer, main, loops);
    }
    UOp inner = closed_over(closer, main, split.main);
    if (!split.rest_iteration.is_null()) {
      const UOp rest = closed_over(
          closer,
          substitute(with_fresh_loops(body, range.node()), {{range.node(), split.rest_iteration}}),
          split.rest);
      inner = is_end ? tuple({inner, rest}) : make(closer->arg<ReduceArg>().op, {inner, rest});
    }
    return closed_over(closer, inner, around(closer.node(), range.node()));
  }

  // Replaces both ranges by loops over blocks in the same positions, with the copies and the lanes
  // innermost.
  UOp blocked_loop(const UOp& end, const Choice& choice) const {
    const UOp lanes = weft::range(const_int(choice.lanes, choice.range->dtype()), fresh_id().value,
                                  LoopKind::Vector);
    const UOp copies = weft::range(const_int(choice.copies, choice.second_range->dtype()),
                                   fresh_id().value, LoopKind::Upcast);
    std::vector<UOp> loops;
    Substitution iterations;
    for (const Node* old : end->src().subspan(1)) {
      const bool has_lanes = old == (*this)[choice.range].node();
      if (!has_lanes && old != (*this)[choice.second_range].node()) {
        loops.emplace_back(old);
        continue;
      }
      const UOp& inner = has_lanes ? lanes : copies;
      const std::int64_t each = inner->src(0)->lo(), blocks = old->src(0)->lo() / each;
      UOp iteration = inner;
      if (blocks > 1) {
        loops.push_back(range_like(old, const_int(blocks, old->dtype())));
        iteration = loops.back() * each + inner;
      }
      iterations.emplace(old, iteration);
    }
    for (const UOp& inner : {copies, lanes}) loops.push_back(inner);
    return closed_over(end, substitute(end.src(0), iterations), loops);
  }

  std::vector<const Node*> order_;
  std::uint32_t bytes_;  // of a register
  NodeMap<Choice> choices_;
  NodeMap<bool> inside_;  // nodes that a choice has given lanes
};

}  // namespace

std::vector<UOp> vectorize(const std::vector<UOp>& roots, const RewriteOptions& options) {
  const auto* target = options.context.get<Target>();
  if (target == nullptr || target->vector_bytes == 0 || setting_int("NOOPT") != 0) return roots;
  const std::vector<UOp> joined = rewrite_once(roots, join_rules(), options);
  const std::vector<UOp> split = traversed<Vectorize>(joined, target->vector_bytes);
  return simplify(split, {.pass = options.pass, .trace = options.trace});
}

}  // namespace weft
