#include "nest_of.h"

#include <algorithm>

#include <weft/dev/codegen/actions.h>
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
      {Op::Exp2, 14},  {Op::Log2, 18}, {Op::Sin, 40},      {Op::Pow, 60},      {Op::Div, 10},
      {Op::Recip, 10}, {Op::Sqrt, 10}, {Op::Mod, 40},      {Op::FloorDiv, 40}, {Op::FloorMod, 40},
      {Op::CDiv, 40},  {Op::CMod, 40}, {Op::Threefry, 70}, {Op::Bitcast, 0}};
  const auto* found = std::ranges::find(weights, op, &Weight::op);
  return found == std::end(weights) ? 1 : found->instructions;
}

class Reader {
 public:
  Reader(const Node* kernel, bool fuses) : kernel_(kernel), order_(toposort(kernel)) {
    fuses_ = fuses;
  }

  std::optional<Nest> nest() {
    if (!is_one_nest() || !find_loops()) return std::nullopt;
    const std::vector<NamedRead> reads = reads_of_kernel(kernel_);
    if (reads.size() > most_reads) return std::nullopt;
    for (const auto& [name, load] : reads) add_access(load->src(0), name, false);
    const Node* effects = kernel_->src(0)->src(0);
    for (const Node* store :
         effects->op() == Op::Tuple ? effects->src() : kernel_->src(0)->src().first(1)) {
      if (store->op() != Op::Store || !has_place_of_its_own(store)) return std::nullopt;
      add_access(store->src(0), "", true);
      nest_.outer_ops += ops_of(store->src(1));
    }
    for (const Node* reduce : reductions_)
      nest_.inner_ops += ops_of(reduce->src(0)) + added(reduce);
    if (reductions_.empty()) std::swap(nest_.inner_ops, nest_.outer_ops);
    return nest_;
  }

 private:
  bool is_one_nest() {
    if (kernel_->size() != 1 || kernel_->src(0)->op() != Op::End) return false;
    for (const Node* node : order_) {
      if (OpSet{Op::Stage, Op::After, Op::Special}.contains(node->op())) return false;
      if (node->op() == Op::Range && !node->src(0)->is_const()) return false;
      if (node->op() == Op::Index && !has_known_sizes(storage_of(node->src(0)))) return false;
      if (node->op() == Op::Reduce) reductions_.push_back(node);
      if (is_elementwise(node->op()) && !node->dtype().is_index() && !node->dtype().is_weak())
        nest_.widest = std::max(nest_.widest, node->dtype().bytes());
    }
    return true;
  }

  static bool has_known_sizes(const Node* storage) {
    return storage->op() == Op::Param &&
           std::ranges::all_of(storage->dims(), [](auto size) { return size->is_const(); });
  }

  // Reductions over as many trips run together; sums of sums, and others, do not.
  bool find_loops() {
    for (const Node* range : kernel_->src(0)->src().subspan(1)) add_loop(range, false);
    for (const Node* reduce : reductions_) {
      const NodeList own = reduce->src().subspan(1), first = reductions_[0]->src().subspan(1);
      const auto size = [](const Node* range) { return range->src(0); };
      if (!std::ranges::equal(own, first, {}, size, size)) return false;
      if (reduce->src(0)->op() == Op::Tuple) return false;
      for (const Node* node : toposort(reduce->src(0)))
        if (node->op() == Op::Reduce) return false;
      if (reduce == reductions_[0])
        for (const Node* range : own) add_loop(range, true);
      else
        for (std::size_t i = 0; i < own.size(); ++i) loop_.set(own[i], *loop_.find(first[i]));
    }
    for (const auto& [name, range] : loops_of_kernel(kernel_))
      nest_.loops[*loop_.find(range)].names.push_back(name);
    return true;
  }

  void add_loop(const Node* range, bool is_reduce) {
    loop_.set(range, static_cast<std::uint32_t>(nest_.loops.size()));
    nest_.loops.push_back({{}, range->src(0)->lo(), is_reduce});
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
      steps.step[*loop_.find(index)] += factor;
    } else if (index->op() == Op::Add) {
      for (const Node* part : index->src()) add_steps(part, factor, steps);
    } else if (is_scaled) {
      add_steps(index->src(0), factor * index->src(1)->lo(), steps);
    } else {
      for (const Node* range : index->ranges()) steps.irregular[*loop_.find(range)] = true;
    }
  }

  void add_access(const Node* place, const std::string& name, bool is_write) {
    const Node* storage = storage_of(place->src(0));
    NestAccess access;
    access.name = name;
    access.storage = storage;
    access.is_write = is_write;
    access.is_masked = !place->src(1)->is_const();
    access.bytes = static_cast<double>(storage->dtype().bytes());
    nest_.widest = std::max(nest_.widest, storage->dtype().bytes());
    access.irregular.resize(nest_.loops.size());
    access.guarded.resize(nest_.loops.size());
    for (const Node* range : place->src(1)->ranges()) access.guarded[*loop_.find(range)] = true;
    for (std::size_t d = 0; d < storage->dims().size(); ++d) {
      access.sizes.push_back(storage->dims()[d]->lo());
      Steps steps = steps_of(place->src(d + 2));
      for (std::size_t i = 0; i < nest_.loops.size(); ++i)
        access.irregular[i] = access.irregular[i] || steps.irregular[i];
      access.step.push_back(std::move(steps.step));
    }
    nest_.accesses.push_back(std::move(access));
  }

  // Of a value, without the sums and the reads that it is made of.
  double ops_of(const Node* value) const {
    double ops = 0;
    NodeMap<bool> seen;
    std::vector<const Node*> open{value};
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (!seen.insert(node, true) || !is_elementwise(node->op())) continue;
      ops += weight_of(node->op());
      for (const Node* source : node->src()) open.push_back(source);
    }
    return ops;
  }

  // A product is part of the instruction that adds it.
  double added(const Node* reduce) const {
    const Node* value = reduce->src(0);
    const bool is_product = value->op() == Op::Mul && value->dtype().is_float();
    return fuses_ && is_product && reduce->arg<ReduceArg>().op == Op::Add ? 0 : 1;
  }

  const Node* kernel_;
  std::vector<const Node*> order_, reductions_;
  bool fuses_ = false;
  Nest nest_;
  NodeMap<std::uint32_t> loop_;
};

}  // namespace

std::optional<Nest> nest_of(const Node* kernel, bool fuses) { return Reader(kernel, fuses).nest(); }

}  // namespace weft
