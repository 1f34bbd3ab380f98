#include "nest_of.h"

#include <algorithm>
#include <set>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "nest_reader.h"
#include "schedule/actions/stores.h"

namespace weft {
namespace {

bool changes_with_all(const Node* node, NodeList ranges) {
  return std::ranges::all_of(ranges, [&](auto range) { return changes_with(node, range); });
}

// Finds the nests of a kernel. A REDUCE that changes with all loops of its END belongs to the END's
// nest; any other is a nest of its own.
class Nests {
 public:
  Nests(const Node* kernel, const std::vector<NamedLoop>& names, bool fuses)
      : kernel_(kernel), loops_(names), names_{{}, {}, fuses} {
    for (const auto& [name, range] : names) names_.loops.emplace(range, name);
    for (const auto& [name, load] : reads_of_kernel(kernel)) names_.reads.emplace(load, name);
  }

  std::vector<KernelNest> all() {
    const std::vector<const Node*> order = toposort(kernel_);
    for (const Node* node : order)
      if (node->op() == Op::End) add_end(node);
    for (const Node* node : order)
      if (node->op() == Op::Reduce && !in_end_.contains(node)) add(node, {}, {node});
    return std::move(found_);
  }

 private:
  void add_end(const Node* end) {
    if (std::ranges::find(stores_of(end), Op::End, &Node::op) != stores_of(end).end())
      return;  // the inner ENDs are nests of their own
    const std::vector<const Node*> own = in_order(end->src().subspan(1));
    std::vector<const Node*> sums, others;
    for (const Node* node : computed_in(end->src(0), [](auto) { return true; })) {
      if (node->op() == Op::Reduce) (changes_with_all(node, own) ? sums : others).push_back(node);
      if (node->op() == Op::After) others.push_back(node);
    }
    // A reduction that depends on another runs after it, in a loop of its own.
    if (std::ranges::any_of(sums, [&](auto sum) { return needs_one_of(sum, sums); })) {
      others.insert(others.end(), sums.begin(), sums.end());
      sums.clear();
    }
    const auto has_others = [&](const Node* range) {
      return std::ranges::any_of(others, [&](auto other) { return changes_with(other, range); });
    };
    std::vector<const Node*> loops;
    for (const Node* range : own)
      if (!sums.empty() || !has_others(range)) loops.push_back(range);
    for (const Node* sum : sums) in_end_.insert(sum);
    if (KernelNest* nest = add(end, loops, sums)) {
      mark(*nest, own_of(loops), others);
      nest->is_whole = nest->is_whole && std::ranges::none_of(loops, has_others);
    }
  }

  // Sorts loops by the order of names, outermost first; loops without a name are last.
  std::vector<const Node*> in_order(NodeList loops) const {
    std::vector<const Node*> result(loops.begin(), loops.end());
    std::ranges::sort(result, {}, [&](const Node* range) {
      return std::pair(std::ranges::find(loops_, range, &NamedLoop::range) - loops_.begin(),
                       std::ranges::find(loops, range) - loops.begin());
    });
    return result;
  }

  // Returns the loops inside the last one of symbolic size; the others are not rescheduled.
  static std::vector<const Node*> own_of(const std::vector<const Node*>& loops) {
    const auto last = std::ranges::find_if(
        loops.rbegin(), loops.rend(), [](const Node* range) { return !range->src(0)->is_const(); });
    return {last.base(), loops.end()};
  }

  static void mark(KernelNest& nest, const std::vector<const Node*>& loops,
                   const std::vector<const Node*>& others) {
    const std::size_t first = nest.nest.around();
    for (std::size_t i = 0; i < loops.size(); ++i)
      for (const Node* other : others) {
        NestLoop& loop = nest.nest.loops[first + i];
        loop.has_others = loop.has_others || changes_with(other, loops[i]);
        loop.is_fixed =
            loop.is_fixed || (other->op() == Op::After && changes_with(other, loops[i]));
        nest.is_ordered = nest.is_ordered || loop.has_others;
      }
  }

  static bool needs_one_of(const Node* sum, const std::vector<const Node*>& sums) {
    return std::ranges::any_of(
        sums, [&](const Node* other) { return other != sum && depends_on(sum, other); });
  }

  // Returns null if the model does not know the form.
  KernelNest* add(const Node* closer, const std::vector<const Node*>& loops,
                  const std::vector<const Node*>& sums) {
    const std::vector<const Node*> own = own_of(loops);
    if ((own.empty() && sums.empty()) || std::ranges::any_of(sums, is_complex)) return nullptr;
    std::vector<const Node*> outer = around(closer, loops);
    outer.insert(outer.end(), loops.begin(), loops.end() - std::ssize(own));
    auto nest = read_nest(names_, {closer, outer, own, sums});
    if (!nest) return nullptr;
    const bool is_whole =
        kernel_->size() == 1 && kernel_->src(0) == closer && loops.size() + 1 == closer->size();
    found_.push_back({closer, std::move(*nest), is_whole, false});
    return &found_.back();
  }

  // Returns the loops around the nest, outermost first: those that the closer changes with, and
  // loops of an END that are not the nest's.
  std::vector<const Node*> around(const Node* closer, const std::vector<const Node*>& loops) const {
    std::vector<const Node*> result;
    const auto is_own = [&](const Node* range) {
      return std::ranges::find(loops, range) != loops.end();
    };
    const NodeList own = closer->src().subspan(1);
    for (const auto& [name, range] : loops_) {
      const bool is_left = closer->op() == Op::End && std::ranges::find(own, range) != own.end();
      if (is_own(range) || (!is_left && !changes_with(closer, range))) continue;
      result.push_back(range);
    }
    return result;
  }

  // Whether it reduces a TUPLE, or contains a REDUCE that changes with its loops.
  static bool is_complex(const Node* sum) {
    const NodeList own = sum->src().subspan(1);
    const auto is_inner = [&](const Node* node) {
      return node->op() == Op::Reduce &&
             std::ranges::any_of(own, [&](auto range) { return changes_with(node, range); });
    };
    return sum->src(0)->op() == Op::Tuple || std::ranges::any_of(toposort(sum->src(0)), is_inner);
  }

  const Node* kernel_;
  const std::vector<NamedLoop>& loops_;
  NestNames names_;
  std::set<const Node*> in_end_;
  std::vector<KernelNest> found_;
};

}  // namespace

double ops_of(const std::vector<const Node*>& values) {
  double ops = 0;
  for (const Node* node : elementwise_below(values))
    if (is_elementwise(node->op())) ops += weight_of(node->op());
  return ops;
}

std::vector<KernelNest> nests_of(const Node* kernel, const std::vector<NamedLoop>& names,
                                 bool fuses) {
  return Nests(kernel, names, fuses).all();
}

DeviceModel machine_for(const Node* kernel, const DeviceModel& machine) {
  DeviceModel found = machine;
  if (kernel->arg<KernelArg>().far_constants) found.constants_stay = false;
  return found;
}

std::optional<Nest> nest_of(const Node* kernel, bool fuses) {
  std::vector<KernelNest> nests = nests_of(kernel, loops_of_kernel(kernel), fuses);
  if (nests.size() != 1 || !nests[0].is_whole) return std::nullopt;
  return std::move(nests[0].nest);
}

}  // namespace weft
