#include "nest_reader.h"

#include <algorithm>
#include <set>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "schedule/actions/staged.h"
#include "schedule/actions/stores.h"

namespace weft {

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

std::vector<const Node*> computed_in(const Node* root,
                                     const std::function<bool(const Node*)>& enter) {
  return nodes_below({root}, [&](const Node* node) {
    if (node->op() == Op::After) return node->src().first(1);
    return node->op() != Op::Reduce || enter(node) ? node->src() : NodeList{};
  });
}

namespace {

constexpr std::size_t most_reads = 32;  // the search time grows with them

// Reads one nest. The loops of its reductions, which run together, follow its other loops.
class Reader {
 public:
  explicit Reader(const NestNames& names) : names_(names) {}

  std::optional<Nest> nest(const NestParts& parts) {
    const auto& [closer, around, loops, sums] = parts;
    for (const Node* range : around) {
      if (!add_loop(range, false, range->src(0)->hi())) return std::nullopt;
      nest_.loops.back().is_around = true;
    }
    for (const Node* range : loops)
      if (!add_loop(range, false)) return std::nullopt;
    if (!add_sums(sums)) return std::nullopt;
    const auto is_own = [&own = parts.sums](const Node* sum) {
      return std::ranges::find(own, sum) != own.end();
    };
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
    const auto name = names_.loops.find(range);
    if (name == names_.loops.end()) return false;
    loop_.set(range, static_cast<std::uint32_t>(nest_.loops.size()));
    nest_.loops.push_back({{name->second}, size, is_reduce});
    return true;
  }

  // Adds the loops of reductions, which must have equal sizes to run together.
  bool add_sums(const std::vector<const Node*>& sums) {
    for (const Node* sum : sums) {
      const NodeList own = sum->src().subspan(1), first = sums[0]->src().subspan(1);
      nest_.sum_bytes += std::max<std::size_t>(4, sum->dtype().bytes());
      const auto size = [](const Node* range) { return range->src(0); };
      if (!std::ranges::equal(own, first, {}, size, size)) return false;
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (sum == sums[0]) {
          if (!add_loop(own[i], true)) return false;
          continue;
        }
        loop_.set(own[i], *loop_.find(first[i]));
        nest_.loops[*loop_.find(first[i])].names.push_back(names_.loops.at(own[i]));
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
    std::map<std::string, const Node*> reads;  // sorted by name
    for (const Node* node : nodes) {
      if (!is_inside(node)) continue;
      if (node->op() == Op::Load) {
        if (!has_known_sizes(storage_of(node->src(0)->src(0)))) return false;
        const auto name = names_.reads.find(node);
        if (name != names_.reads.end())
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
      if (load->size() == 1) access.overlap = overlap_of(access);
    }
    if (nest_.accesses.size() > most_reads) join_alike();
    return nest_.accesses.size() <= most_reads;
  }

  // Joins accesses whose distance is the same in all iterations into one access with several
  // places, which cannot be staged.
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
      for (std::size_t loop = 0; loop < access.guarded.size(); ++loop)
        if (access.guarded[loop]) found->guarded[loop] = true;
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
      if (store->op() != Op::Store || !is_plain_store(store)) return false;
      if (!has_known_sizes(storage_of(store->src(0)->src(0)))) return false;
      add_access(store->src(0), "", true);
      stored.push_back(store->src(1));
    }
    add_ops(stored, nest_.outer_ops);
    if (nest_.accesses.size() > most_reads) join_alike();
    return true;
  }

  // Only PARAMs and BUFFERs have sizes; symbolic ones count at their upper bound.
  static bool has_known_sizes(const Node* storage) {
    return OpSet{Op::Param, Op::Buffer}.contains(storage->op());
  }

  // The steps of an index by loop. A loop is irregular if the index is not affine in it.
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
    access.is_constant = storage->op() == Op::Param &&
                         storage->arg<ParamArg>().access == Access::Constant &&
                         is_same_in_each_run(place);
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

  // Detects a window: an index that moves with an output loop and a reduction loop, so that reads
  // of neighbouring outputs overlap. It is shared if outputs along another loop read it again.
  Overlap overlap_of(const NestAccess& access) const {
    Overlap overlap = Overlap::Own;
    for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop) {
      const bool is_output = !nest_.loops[loop].is_reduce && nest_.loops[loop].size > 1;
      if (access.irregular[loop]) return Overlap::None;
      if (is_output && access.strides[loop] == 0) overlap = Overlap::Shared;
    }
    const bool moves = std::ranges::any_of(access.step, [&](const std::vector<std::int64_t>& step) {
      bool is_read = false, is_moved = false;
      for (std::size_t loop = 0; loop < step.size(); ++loop)
        (nest_.loops[loop].is_reduce ? is_read : is_moved) |= step[loop] != 0;
      return is_read && is_moved;
    });
    return moves ? overlap : Overlap::None;
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
    for (const Node* load : codes_below(values)) add_ops(1, loops_of(load), ops);
  }

  // Returns the loads of integers that are narrower than the floats they become: each takes an
  // instruction to widen.
  static std::vector<const Node*> codes_below(const std::vector<const Node*>& values) {
    std::vector<const Node*> codes;
    for (const Node* node : elementwise_below(values)) {
      if (node->op() != Op::Cast || !node->dtype().is_float()) continue;
      const DType from = node->src(0)->dtype();
      if (!from.is_int() || from.bytes() >= node->dtype().bytes()) continue;
      for (const Node* source : elementwise_below({node->src(0)}))
        if (source->op() == Op::Load && std::ranges::find(codes, source) == codes.end())
          codes.push_back(source);
    }
    return codes;
  }

  // Counts the operand of a sum and its addition, unless that is fused with a multiplication.
  void add_ops_of(const Node* sum) {
    const Node* value = sum->src(0);
    add_ops({value}, nest_.inner_ops);
    const bool is_product = value->op() == Op::Mul && value->dtype().is_float();
    if (!names_.fuses || !is_product || sum->arg<ReduceArg>().op != Op::Add)
      add_ops(1, loops_of(value), nest_.inner_ops);
  }

  const NestNames& names_;
  Nest nest_;
  NodeMap<std::uint32_t> loop_;
};

}  // namespace

std::optional<Nest> read_nest(const NestNames& names, const NestParts& parts) {
  return Reader(names).nest(parts);
}

}  // namespace weft
