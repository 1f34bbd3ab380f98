#include "nest_of.h"

#include <algorithm>
#include <map>
#include <set>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "stores.h"

namespace weft {
namespace {

constexpr std::size_t most_reads = 32;  // the time of a choice grows with them

// How many simple instructions an op takes.
double weight_of(Op op) {
  struct Weight {
    Op op;
    double instructions;
  };
  static constexpr Weight weights[] = {
      {Op::Exp2, 14},     {Op::Log2, 18},  {Op::Sin, 40},  {Op::Cos, 40},      {Op::Pow, 60},
      {Op::Div, 10},      {Op::Recip, 10}, {Op::Sqrt, 10}, {Op::Mod, 40},      {Op::FloorDiv, 40},
      {Op::FloorMod, 40}, {Op::CDiv, 40},  {Op::CMod, 40}, {Op::Threefry, 70}, {Op::Bitcast, 0}};
  const auto* found = std::ranges::find(weights, op, &Weight::op);
  return found == std::end(weights) ? 1 : found->instructions;
}

bool changes_with_all(const Node* node, NodeList ranges) {
  return std::ranges::all_of(ranges, [&](auto range) { return changes_with(node, range); });
}
// What is computed at and below a node, other than in the loops that fill what it reads. `enter` says
// of a REDUCE whether its body belongs to it.
template <class Enter>
std::vector<const Node*> computed_in(const Node* root, Enter enter) {
  return nodes_below({root}, [&](const Node* node) {
    if (node->op() == Op::After) return node->src().first(1);
    return node->op() != Op::Reduce || enter(node) ? node->src() : NodeList{};
  });
}

// One nest: its loops, then those of its sums, which run together.
class Reader {
 public:
  Reader(const std::map<const Node*, std::string>& loop_names,
         const std::map<const Node*, std::string>& read_names, bool fuses)
      : loop_names_(loop_names), read_names_(read_names), fuses_(fuses) {}

  // `loops` are some of the closer's; the sums stand in all of them, and all stands in the loops `around`.
  std::optional<Nest> nest(const Node* closer, const std::vector<const Node*>& around,
                           const std::vector<const Node*>& loops,
                           const std::vector<const Node*>& sums) {
    for (const Node* range : around) {
      if (!add_loop(range, false, range->src(0)->hi())) return std::nullopt;
      nest_.loops.back().is_around = true;
    }
    for (const Node* range : loops)
      if (!add_loop(range, false)) return std::nullopt;
    if (!add_sums(sums)) return std::nullopt;
    const auto is_own = [&](const Node* sum) { return std::ranges::find(sums, sum) != sums.end(); };
    if (!add_reads(computed_in(closer->op() == Op::Reduce ? closer : closer->src(0), is_own)))
      return std::nullopt;
    if (closer->op() == Op::End && !add_stores(closer)) return std::nullopt;
    for (const Node* sum : sums) add_ops_of(sum);
    if (sums.empty()) std::swap(nest_.inner_ops, nest_.outer_ops);
    return nest_;
  }

 private:
  bool add_loop(const Node* range, bool is_reduce) {
    return range->src(0)->is_const() && add_loop(range, is_reduce, range->src(0)->lo());
  }

  bool add_loop(const Node* range, bool is_reduce, std::int64_t size) {
    const auto name = loop_names_.find(range);
    if (name == loop_names_.end()) return false;
    loop_.set(range, static_cast<std::uint32_t>(nest_.loops.size()));
    nest_.loops.push_back({{name->second}, size, is_reduce});
    return true;
  }

  // Those over as many trips run together; others do not.
  bool add_sums(const std::vector<const Node*>& sums) {
    for (const Node* sum : sums) {
      const NodeList own = sum->src().subspan(1), first = sums[0]->src().subspan(1);
      const auto size = [](const Node* range) { return range->src(0); };
      if (!std::ranges::equal(own, first, {}, size, size)) return false;
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (sum == sums[0]) {
          if (!add_loop(own[i], true)) return false;
          continue;
        }
        loop_.set(own[i], *loop_.find(first[i]));
        nest_.loops[*loop_.find(first[i])].names.push_back(loop_names_.at(own[i]));
      }
    }
    return true;
  }

  bool is_inside(const Node* node) const {
    return std::ranges::any_of(node->ranges(), [&](auto range) {
      const auto* loop = loop_.find(range);
      return loop != nullptr && !nest_.loops[*loop].is_around;
    });
  }

  bool add_reads(const std::vector<const Node*>& nodes) {
    std::map<std::string, const Node*> reads;  // in the order of their names
    for (const Node* node : nodes) {
      if (!is_inside(node)) continue;
      if (node->op() == Op::Load) {
        if (!has_known_sizes(storage_of(node->src(0)->src(0)))) return false;
        const auto name = read_names_.find(node);
        if (name != read_names_.end())
          reads.emplace(name->second, node);
        else
          add_access(node->src(0), "", false);
      }
      if (is_elementwise(node->op()) && !node->dtype().is_index() && !node->dtype().is_weak())
        widen(loops_of(node), node->dtype().bytes());
    }
    std::set<const Node*> indices;
    for (const auto& [name, load] : reads)
      for (const Node* node : toposort(load->src(0)))
        if (node->op() == Op::Load) indices.insert(node);
    for (const auto& [name, load] : reads) {
      add_access(load->src(0), name, false);
      NestAccess& access = nest_.accesses.back();
      access.is_index = indices.contains(load);
      if (load->size() == 1) access.window = window_of(access);
    }
    if (nest_.accesses.size() > most_reads) join_alike();
    return nest_.accesses.size() <= most_reads;
  }

  // Accesses at one distance from each other in all trips count as one of several places, which cannot be staged.
  void join_alike() {
    std::vector<NestAccess> joined;
    for (NestAccess& access : nest_.accesses) {
      const auto is_alike = [&](const NestAccess& other) {
        return other.storage == access.storage && other.is_write == access.is_write &&
               other.step == access.step && other.irregular == access.irregular;
      };
      const auto found = std::ranges::find_if(joined, is_alike);
      if (found == joined.end()) {
        joined.push_back(std::move(access));
        continue;
      }
      found->places += access.places;
      found->name.clear();
      found->is_masked = found->is_masked || access.is_masked;
      for (std::size_t d = 0; d < found->first.size(); ++d) {
        found->last[d] = std::max(found->last[d], access.last[d]);
        found->first[d] = std::min(found->first[d], access.first[d]);
      }
    }
    nest_.accesses = std::move(joined);
  }

  bool add_stores(const Node* end) {
    std::vector<const Node*> stored;
    for (const Node* store : stores_of(end)) {
      if (store->op() != Op::Store || !has_place_of_its_own(store)) return false;
      if (!has_known_sizes(storage_of(store->src(0)->src(0)))) return false;
      add_access(store->src(0), "", true);
      stored.push_back(store->src(1));
    }
    add_ops(stored, nest_.outer_ops);
    if (nest_.accesses.size() > most_reads) join_alike();
    return true;
  }

  // Sizes that calls say count as the largest.
  static bool has_known_sizes(const Node* storage) {
    return OpSet{Op::Param, Op::Buffer}.contains(storage->op());
  }

  // How an index grows with each loop; what is no sum of multiples is irregular.
  struct Steps {
    std::vector<std::int64_t> step;
    std::vector<bool> irregular;
  };

  Steps steps_of(const Node* index) const {
    Steps steps{std::vector<std::int64_t>(nest_.loops.size()),
                std::vector<bool>(nest_.loops.size())};
    add_steps(index, 1, steps);
    return steps;
  }

  void add_steps(const Node* index, std::int64_t factor, Steps& steps) const {
    const bool is_scaled = index->op() == Op::Mul && index->src(1)->is_const();
    if (index->op() == Op::Range) {
      if (const auto* loop = loop_.find(index)) steps.step[*loop] += factor;
    } else if (index->op() == Op::Add) {
      for (const Node* part : index->src()) add_steps(part, factor, steps);
    } else if (is_scaled) {
      add_steps(index->src(0), factor * index->src(1)->lo(), steps);
    } else {
      mark(index, steps.irregular);
    }
  }

  static std::int64_t constant_in(const Node* index) {
    if (index->is_const()) return index->lo();
    if (index->op() != Op::Add) return 0;
    return constant_in(index->src(0)) + constant_in(index->src(1));
  }

  void mark(const Node* node, std::vector<bool>& loops) const {
    for (const Node* range : node->ranges())
      if (const auto* loop = loop_.find(range)) loops[*loop] = true;
  }

  void add_access(const Node* place, const std::string& name, bool is_write) {
    const Node* storage = storage_of(place->src(0));
    NestAccess access;
    access.name = name;
    access.storage = storage;
    access.is_write = is_write;
    access.is_masked = !place->src(1)->is_const();
    access.is_constant =
        storage->op() == Op::Param && storage->arg<ParamArg>().access == Access::Constant;
    access.bytes = static_cast<double>(storage->dtype().bytes());
    access.irregular.resize(nest_.loops.size());
    access.guarded.resize(nest_.loops.size());
    mark(place->src(1), access.guarded);
    for (std::size_t d = 0; d < storage->dims().size(); ++d) {
      access.sizes.push_back(storage->dims()[d]->hi());
      Steps steps = steps_of(place->src(d + 2));
      for (std::size_t i = 0; i < nest_.loops.size(); ++i)
        access.irregular[i] = access.irregular[i] || steps.irregular[i];
      access.step.push_back(std::move(steps.step));
      const std::int64_t at = constant_in(place->src(d + 2));
      access.first.push_back(at);
      access.last.push_back(at);
    }
    access.strides = strides_of(access);
    std::vector<bool> changes;
    for (std::size_t i = 0; i < nest_.loops.size(); ++i) changes.push_back(access.changes_with(i));
    widen(changes, storage->dtype().bytes());
    nest_.accesses.push_back(std::move(access));
  }

  // Along a dimension of which a reduction reads several elements for each output, whose neighbours read
  // some of the same.
  Window window_of(const NestAccess& access) const {
    Window window = Window::Own;
    for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop) {
      const bool is_output = !nest_.loops[loop].is_reduce && nest_.loops[loop].size > 1;
      if (access.irregular[loop]) return Window::None;
      if (is_output && access.strides[loop] == 0) window = Window::Shared;
    }
    const bool moves = std::ranges::any_of(access.step, [&](const std::vector<std::int64_t>& step) {
      bool is_read = false, is_moved = false;
      for (std::size_t loop = 0; loop < step.size(); ++loop)
        (nest_.loops[loop].is_reduce ? is_read : is_moved) |= step[loop] != 0;
      return is_read && is_moved;
    });
    return moves ? window : Window::None;
  }

  std::vector<std::int64_t> strides_of(const NestAccess& access) const {
    std::vector<std::int64_t> strides(nest_.loops.size());
    std::int64_t size = 1;
    for (std::size_t d = access.sizes.size(); d-- > 0; size *= access.sizes[d])
      for (std::size_t loop = 0; loop < strides.size(); ++loop)
        strides[loop] += access.step[d][loop] * size;
    return strides;
  }

  void widen(const std::vector<bool>& loops, std::size_t bytes) {
    for (std::size_t i = 0; i < loops.size(); ++i)
      if (loops[i]) nest_.loops[i].widest = std::max(nest_.loops[i].widest, bytes);
  }

  std::vector<bool> loops_of(const Node* node) const {
    std::vector<bool> loops(nest_.loops.size());
    mark(node, loops);
    return loops;
  }

  static void add_ops(double instructions, std::vector<bool> changes, std::vector<NestOps>& ops) {
    const auto found = std::ranges::find(ops, changes, &NestOps::changes);
    if (found == ops.end())
      ops.push_back({std::move(changes), instructions});
    else
      found->instructions += instructions;
  }

  void add_ops(const std::vector<const Node*>& values, std::vector<NestOps>& ops) const {
    for (const Node* node : elementwise_below(values))
      if (is_elementwise(node->op())) add_ops(weight_of(node->op()), loops_of(node), ops);
  }

  // A product is part of the instruction that adds it.
  void add_ops_of(const Node* sum) {
    const Node* value = sum->src(0);
    add_ops({value}, nest_.inner_ops);
    const bool is_product = value->op() == Op::Mul && value->dtype().is_float();
    if (!fuses_ || !is_product || sum->arg<ReduceArg>().op != Op::Add)
      add_ops(1, loops_of(value), nest_.inner_ops);
  }

  const std::map<const Node*, std::string>& loop_names_;
  const std::map<const Node*, std::string>& read_names_;
  bool fuses_ = false;
  Nest nest_;
  NodeMap<std::uint32_t> loop_;
};

// The nests of a kernel. A sum that stands in all loops of its END is in the END's nest, any other is
// a nest of its own.
class Nests {
 public:
  Nests(const Node* kernel, const std::vector<NamedLoop>& names, bool fuses)
      : kernel_(kernel), names_(names), fuses_(fuses) {
    for (const auto& [name, range] : names) loop_names_.emplace(range, name);
    for (const auto& [name, load] : reads_of_kernel(kernel)) read_names_.emplace(load, name);
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
      return;  // nests of their own
    const NodeList own = end->src().subspan(1);
    std::vector<const Node*> sums, others;
    for (const Node* node : computed_in(end->src(0), [](auto) { return true; })) {
      if (node->op() == Op::Reduce) (changes_with_all(node, own) ? sums : others).push_back(node);
      if (node->op() == Op::After) others.push_back(node);
    }
    // One that needs another runs after it.
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

  // A loop whose size calls say, and those around it, are left as they are: the nest begins inside of them.
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

  // Null where the form is not known.
  KernelNest* add(const Node* closer, const std::vector<const Node*>& loops,
                  const std::vector<const Node*>& sums) {
    const std::vector<const Node*> own = own_of(loops);
    if ((own.empty() && sums.empty()) || std::ranges::any_of(sums, is_complex)) return nullptr;
    std::vector<const Node*> outer = around(closer, loops);
    outer.insert(outer.end(), loops.begin(), loops.end() - std::ssize(own));
    auto nest = Reader(loop_names_, read_names_, fuses_).nest(closer, outer, own, sums);
    if (!nest) return nullptr;
    const bool is_whole =
        kernel_->size() == 1 && kernel_->src(0) == closer && loops.size() + 1 == closer->size();
    found_.push_back({closer, std::move(*nest), is_whole, false});
    return &found_.back();
  }

  // Those that the closer changes with, and of its own those that are left to other nests, outermost first.
  std::vector<const Node*> around(const Node* closer, const std::vector<const Node*>& loops) const {
    std::vector<const Node*> result;
    const auto is_own = [&](const Node* range) {
      return std::ranges::find(loops, range) != loops.end();
    };
    const NodeList own = closer->src().subspan(1);
    for (const auto& [name, range] : names_) {
      const bool is_left = closer->op() == Op::End && std::ranges::find(own, range) != own.end();
      if (is_own(range) || (!is_left && !changes_with(closer, range))) continue;
      result.push_back(range);
    }
    return result;
  }

  // Lists, and sums of what each trip sums.
  static bool is_complex(const Node* sum) {
    const NodeList own = sum->src().subspan(1);
    const auto is_inner = [&](const Node* node) {
      return node->op() == Op::Reduce &&
             std::ranges::any_of(own, [&](auto range) { return changes_with(node, range); });
    };
    return sum->src(0)->op() == Op::Tuple || std::ranges::any_of(toposort(sum->src(0)), is_inner);
  }

  const Node* kernel_;
  const std::vector<NamedLoop>& names_;
  bool fuses_;
  std::map<const Node*, std::string> loop_names_, read_names_;
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

std::optional<Nest> nest_of(const Node* kernel, bool fuses) {
  std::vector<KernelNest> nests = nests_of(kernel, loops_of_kernel(kernel), fuses);
  if (nests.size() != 1 || !nests[0].is_whole) return std::nullopt;
  return std::move(nests[0].nest);
}

}  // namespace weft
