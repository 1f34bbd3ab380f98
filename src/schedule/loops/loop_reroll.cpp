#include "loop_reroll.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/error.h>

#include "concat_parts.h"
#include "concat_slices.h"
#include "fusion/partition.h"
#include "graph/reshape.h"
#include "step_chains.h"
#include "step_numbering.h"

namespace weft {
namespace {

constexpr std::int64_t least_steps = 8;
constexpr int most_loops = 64;
// Limit on the total size of buffers with a row per step.
constexpr double most_bytes = 64 << 20;
// A value that is not state is materialised only up to this multiple of the state's elements.
constexpr double most_beside_state = 8;

std::vector<UOp> tensors_of(const std::vector<Root>& roots) {
  std::vector<UOp> tensors;
  for (const Root& root : roots) tensors.push_back(root.tensor);
  return tensors;
}

std::vector<Root> with_tensors(std::vector<Root> roots, NodeList tensors) {
  for (std::size_t i = 0; i < roots.size(); ++i) roots[i].tensor = UOp(tensors[i]);
  return roots;
}

Sizes in_rows(std::int64_t rows, const Node* like) {
  Sizes sizes = sizes_of(UOp(like));
  sizes.insert(sizes.begin(), const_int(rows));
  return sizes;
}

// Returns one row of memory as a tensor like the node.
UOp row_like(const Node* node, const UOp& memory, const UOp& row) {
  return reshape(slice_of(memory, 0, row, 1), sizes_of(UOp(node)));
}

class LoopReroller {
 public:
  LoopReroller(const std::vector<Root>& roots, std::vector<Chain> chains)
      : roots_(roots), chains_(std::move(chains)) {}

  // Returns no roots if the steps cannot be re-rolled.
  std::vector<Root> run() {
    if (!chains_.find_steps(least_steps) || !find_template() || !find_outputs()) return {};
    return built();
  }

 private:
  // --- One step --------------------------------------------------------------------------------

  // Collects the state, and everything that the last step computes it from.
  bool find_template() {
    for (std::size_t c = 0; c < chains_.size(); ++c)
      if (chains_.is_given(c) && !want(c)) return false;
    states_ = materialised_;
    return true;
  }

  const Node* last(std::size_t chain) const { return chains_.node({chain, 0}); }

  // Materialises the values of the chain. Returns false if that is not possible.
  bool want(std::size_t chain) {
    if (std::ranges::find(materialised_, chain) != materialised_.end()) return true;
    if (!chains_.is_covered(chain)) return false;
    const auto is_same = [&](std::size_t kept) { return made_last(kept) == made_last(chain); };
    if (std::ranges::any_of(materialised_, is_same)) return false;
    materialised_.push_back(chain);
    return visit(chains_.in_step(chain, chains_.to()), false);
  }

  const Node* made_last(std::size_t chain) const {
    return chains_.node(chains_.in_step(chain, chains_.to()));
  }

  bool visit(const Member& at, bool is_handed_on) {
    const Node* made = chains_.node(at);
    if (!(is_handed_on ? carried_ : visited_).insert(made).second) return true;
    const Chain& chain = chains_[at.chain];
    if (chain.is_slice())
      return at.index + static_cast<std::size_t>(chains_.iterations()) <= chain.nodes.size() &&
             add_invariant(made->src(0));
    const std::int64_t apart = chains_.to() - chains_.step(at);
    if (apart != (is_handed_on ? 1 : 0) || !chains_.is_covered(at.chain)) return false;
    if (is_handed_on && is_state(at))
      return chains_.in_step(at.chain, chains_.from()).index < chain.nodes.size() && want(at.chain);
    for (std::size_t i = 0; i < made->size(); ++i) {
      const Node* source = made->src(i);
      if (!chains_.changes(at, i)) {
        if (!add_invariant(source)) return false;
        continue;
      }
      const Member& below = chains_.own(source);
      if (!visit(below, chains_.to() != chains_.step(below))) return false;
    }
    return true;
  }

  // Returns whether a value that the next step reads is state, and not just a view of it.
  bool is_state(const Member& at) const {
    return !is_movement(chains_.node(at)) || chains_[at.chain].has_initial_value();
  }

  // Registers a value that all steps share; it is an input of the loop if it depends on memory.
  // Returns false if it cannot be one.
  bool add_invariant(const Node* shared) {
    for (; is_movement(shared); shared = shared->src(0)) shared_.insert(shared);
    shared_.insert(shared);
    if (std::ranges::find(inputs_, shared) != inputs_.end() || is_of_no_memory(shared)) return true;
    if (!have_known_sizes(shared->dims()) || shared->op() == Op::Variable ||
        shared->dtype().is_void() || shared->op() == Op::Counter)
      return false;
    inputs_.push_back(shared);
    return true;
  }

  static bool is_of_no_memory(const Node* node) {
    return std::ranges::all_of(toposort(node), [](const Node* below) {
      return OpSet{Op::Const, Op::Range, Op::Stage, Op::Tuple}.contains(below->op()) ||
             is_movement(below) || is_elementwise(below->op());
    });
  }

  // --- Uses outside the loop -------------------------------------------------------------------

  // Returns the place of a node in its chain, if the loop computes it and should materialise it.
  std::optional<Member> kept_member(const Node* node) const {
    const auto found = chains_.member(node);
    if (!found || !chains_.is_covered(found->chain) || chains_[found->chain].is_slice() ||
        is_movement(node) || !is_worth_keeping(found->chain))
      return std::nullopt;
    const std::int64_t step = chains_.step(*found);
    return step > chains_.from() && step <= chains_.to() ? found : std::nullopt;
  }

  // A value that is not state can also be computed outside the loop, from the state of all steps.
  // That needs less memory for what each step adds to the gradient of a weight.
  bool is_worth_keeping(std::size_t chain) const {
    if (std::ranges::find(states_, chain) != states_.end()) return true;
    double handed_on = 0;
    for (std::size_t state : states_) handed_on += elements(last(state)->dims());
    return elements(last(chain)->dims()) <= most_beside_state * handed_on;
  }

  // A concat of a chain's values in consecutive steps. `way` is 1 if the steps ascend, else -1.
  struct Rows {
    Member first;
    std::size_t count;
    std::int64_t way;
    std::size_t axis;
    const Node* part;
  };

  std::optional<Rows> rows_joined(const Node* node) const {
    if (node->op() != Op::Where) return std::nullopt;
    const ConcatParts join = concat_parts_of(node);
    if (join.parts.size() < 2) return std::nullopt;
    Rows rows{{}, join.parts.size(), 1, join.axis, join.parts[0]};
    for (std::size_t i = 0; i < join.parts.size(); ++i) {
      const Node* part = join.parts[i];
      if (part->shape() != join.parts[0]->shape()) return std::nullopt;
      while (part->op() == Op::Reshape) part = part->src(0);
      const auto at = kept_member(part);
      if (!at) return std::nullopt;
      if (i == 0) rows.first = *at;
      const std::int64_t further = chains_.step(*at) - chains_.step(rows.first);
      if (i == 1) rows.way = further;
      if (at->chain != rows.first.chain || std::abs(rows.way) != 1 ||
          further != rows.way * static_cast<std::int64_t>(i))
        return std::nullopt;
    }
    return rows;
  }

  bool find_outputs() {
    if (!look_at_users(nodes_of(tensors_of(roots_)))) return false;
    // The loop's inputs must not depend on its results.
    for (std::size_t seen = 0; seen < inputs_.size() + materialised_.size();) {
      seen = inputs_.size() + materialised_.size();
      std::vector<const Node*> taken = inputs_;
      for (std::size_t chain : materialised_)
        if (is_handed_on(chain)) taken.push_back(first_given(chain));
      const std::size_t before = outputs_.size();
      if (!look_at_users(taken) || outputs_.size() != before || takes_what_it_makes(taken))
        return false;
    }
    double bytes = 0;
    for (std::size_t chain : materialised_)
      if (needs_all_rows(chain))
        bytes += static_cast<double>(chains_.iterations()) * elements(last(chain)->dims()) *
                 static_cast<double>(last(chain)->dtype().bytes());
    return !outputs_.empty() && bytes <= most_bytes && !has_two_roles();
  }

  // Returns whether a node belongs to the last step and is loop-invariant too. It would have to be
  // replaced by two different values.
  bool has_two_roles() const {
    return std::ranges::any_of(shared_, [&](const Node* node) {
      return visited_.contains(node) || carried_.contains(node);
    });
  }

  bool takes_what_it_makes(const std::vector<const Node*>& taken) const {
    return std::ranges::any_of(toposort(taken),
                               [&](const Node* node) { return outputs_.contains(node); });
  }

  bool look_at_users(std::vector<const Node*> open) {
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (!outside_.insert(node, true)) continue;
      if (const auto rows = rows_joined(node)) {
        joins_.emplace(node, *rows);
        read_all_along_.insert(rows->first.chain);
        outputs_.insert(node);
        if (!want(rows->first.chain)) return false;
        continue;
      }
      if (const auto at = kept_member(node)) {
        if (chains_.step(*at) != chains_.to()) read_all_along_.insert(at->chain);
        singles_.emplace(node, *at);
        outputs_.insert(node);
        if (!want(at->chain)) return false;
        continue;
      }
      open.insert(open.end(), node->src().begin(), node->src().end());
    }
    return true;
  }

  // --- The loop --------------------------------------------------------------------------------

  bool is_handed_on(std::size_t chain) const {
    return std::ranges::any_of(carried_, [&](const Node* node) {
      return chains_.own(node).chain == chain && is_state(chains_.own(node));
    });
  }
  bool needs_all_rows(std::size_t chain) const { return read_all_along_.contains(chain); }
  const Node* first_given(std::size_t chain) const {
    return chains_.node(chains_.in_step(chain, chains_.from()));
  }

  UOp row(std::size_t chain, const UOp& iteration) const {
    return needs_all_rows(chain) ? iteration : iteration % 2;
  }

  // Returns the device of the loop's inputs.
  Symbol device() const {
    for (const Node* input : inputs_)
      for (const Node* below : nodes_below({input}, [](const Node* node) {
             return node->op() == Op::Copy ? NodeList{} : node->src();
           })) {
        if (below->op() == Op::Copy) return below->arg<DeviceArg>().device;
        if (below->op() == Op::Buffer && !below->arg<BufferArg>().device.empty())
          return below->arg<BufferArg>().device;
      }
    return roots_[0].device;
  }

  UOp memory_for(std::size_t chain) const {
    const Node* like = last(chain);
    const std::int64_t rows = needs_all_rows(chain) ? chains_.iterations() + 1 : 2;
    return make(Op::Buffer, in_rows(rows, like), like->dtype(),
                BufferArg{.id = fresh_id(), .device = device()});
  }

  static UOp param_like(const UOp& value, std::size_t slot) {
    return make(Op::Param, sizes_of(value), value->dtype(),
                ParamArg{static_cast<std::int32_t>(slot), Access::Read, 0});
  }

  std::vector<Root> built() {
    std::vector<UOp> arguments, params;
    for (std::size_t chain : materialised_) arguments.push_back(begun(chain));
    for (const Node* input : inputs_) arguments.emplace_back(input);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      params.push_back(param_like(arguments[i], i));
    std::vector<UOp> call{one_step(params)};
    call.insert(call.end(), arguments.begin(), arguments.end());
    const UOp loop =
        make(Op::Call, call, dtypes::void_, CallArg{fresh_id(), Symbol("steps"), false});
    std::map<std::size_t, UOp> made;
    for (std::size_t i = 0; i < materialised_.size(); ++i)
      made.emplace(materialised_[i], make(Op::After, {arguments[i], loop}));
    Substitution by;
    for (const auto& [node, at] : singles_) by.emplace(node, row_of(made.at(at.chain), at));
    for (const auto& [node, rows] : joins_)
      by.emplace(node, joined(made.at(rows.first.chain), rows));
    const UOp tensors = substitute(tuple(tensors_of(roots_)), by);
    return with_tensors(roots_, tensors->src());
  }

  // Returns the memory of a chain. If the chain is state, row 0 holds the initial value.
  UOp begun(std::size_t chain) const {
    const UOp memory = memory_for(chain);
    if (!is_handed_on(chain)) return memory;
    const UOp place = slice_of(memory, 0, const_int(0), 1);
    const UOp value = reshape(UOp(first_given(chain)), sizes_of(place));
    return make(Op::After, {memory, make(Op::Store, {place, value}, {}, StoreArg{})});
  }

  UOp one_step(const std::vector<UOp>& params) const {
    const UOp iteration = range(const_int(chains_.iterations()), fresh_id().value);
    Substitution by;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      by.emplace(inputs_[i], params[materialised_.size() + i]);
    for (const auto* nodes : {&visited_, &carried_})
      for (const Node* node : *nodes) {
        const Member& at = chains_.own(node);
        if (chains_[at.chain].is_slice()) by.emplace(node, moving_part(node, at, iteration, by));
      }
    for (const Node* node : carried_) {
      const std::size_t chain = chains_.own(node).chain;
      if (chains_[chain].is_slice() || !is_state(chains_.own(node))) continue;
      by.emplace(node, row_like(node, params[place_of(chain)], row(chain, iteration)));
    }
    std::vector<UOp> stores;
    for (std::size_t i = 0; i < materialised_.size(); ++i) {
      const std::size_t chain = materialised_[i];
      const UOp place = slice_of(params[i], 0, row(chain, iteration + 1), 1);
      const UOp value = reshape(substitute(UOp(made_last(chain)), by), sizes_of(place));
      stores.push_back(make(Op::Store, {place, value}, {}, StoreArg{}));
    }
    return make(Op::End, {tuple(stores), iteration});
  }

  std::size_t place_of(std::size_t chain) const {
    return static_cast<std::size_t>(std::ranges::find(materialised_, chain) -
                                    materialised_.begin());
  }

  // Returns the slice that an iteration reads; `part` is that of the last iteration.
  UOp moving_part(const Node* part, const Member& at, const UOp& iteration,
                  const Substitution& by) const {
    const auto& moves = chains_[at.chain].further;
    if (!moves) internal_error("a part that does not move from iteration to iteration");
    Sizes start;
    for (std::size_t axis = 0; axis < part->dims().size(); ++axis) {
      const std::int64_t further = (*moves)[axis];
      const std::int64_t at_last = part->src(1)->src(axis)->lo();
      const std::int64_t first = at_last - further * (chains_.iterations() - 1);
      start.push_back(further == 0 ? const_int(at_last) : iteration * further + first);
    }
    return shrink(substitute(UOp(part->src(0)), by), start, sizes_of(UOp(part)));
  }

  UOp row_of(const UOp& memory, const Member& at) const {
    const std::int64_t iteration = chains_.step(at) - chains_.from();
    const UOp row = const_int(needs_all_rows(at.chain) ? iteration : iteration % 2);
    return row_like(chains_.node(at), memory, row);
  }

  UOp joined(const UOp& memory, const Rows& rows) const {
    const auto count = static_cast<std::int64_t>(rows.count);
    const std::int64_t begin = chains_.step(rows.first) - chains_.from();
    const std::int64_t first = rows.way > 0 ? begin : begin - count + 1;
    UOp all = slice_of(memory, 0, const_int(first), count);
    if (rows.way < 0) all = flip(all, {0});
    all = reshape(all, in_rows(count, rows.part));
    Axes axes(all->dims().size());
    std::iota(axes.begin(), axes.end(), 0);
    const auto moved = axes.begin() + static_cast<std::ptrdiff_t>(rows.axis) + 1;
    std::rotate(axes.begin(), axes.begin() + 1, moved);  // the rows stand before the parts' axis
    Sizes sizes = sizes_of(UOp(rows.part));
    sizes[rows.axis] = const_int(count * rows.part->dims()[rows.axis]->lo());
    return reshape(permute(all, axes), sizes);
  }

  const std::vector<Root>& roots_;
  NumberedSteps chains_;
  std::vector<std::size_t> materialised_;  // materialised chains
  std::vector<std::size_t> states_;        // those of them that the next step reads
  std::vector<const Node*> inputs_;
  std::set<const Node*> visited_, carried_;  // of the last step, and of the one before
  std::set<const Node*> shared_;             // loop-invariant values, and views of them
  NodeMap<bool> outside_;
  std::set<const Node*> outputs_;
  std::set<std::size_t> read_all_along_;
  std::map<const Node*, Rows> joins_;
  std::map<const Node*, Member> singles_;
};

}  // namespace

std::vector<Root> with_loops_rerolled(const std::vector<Root>& roots) {
  std::vector<UOp> tensors = tensors_of(roots);
  if (!may_have_chains(tensors, least_steps)) return roots;
  tensors = rewrite(tensors, concat_slice_rules());
  std::vector<Root> now = with_tensors(roots, nodes_of(tensors));
  const auto roll = [&](std::vector<Chain> chains) {
    std::vector<Root> next = LoopReroller(now, std::move(chains)).run();
    if (next.empty()) return false;
    now = std::move(next);
    return true;
  };
  int loops = 0;
  while (loops < most_loops && find_chains(tensors_of(now), least_steps, roll)) ++loops;
  return loops > 0 ? now : roots;
}

}  // namespace weft
