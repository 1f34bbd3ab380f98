// A kernel that selects between values along a loop (a concat) is split into one kernel per part. A
// part that only copies an internal buffer is removed, and all accesses to that buffer go to the
// destination instead. A part that computes each element from one element of an internal buffer is
// fused into the kernel that writes the buffer, if nothing else reads it.

#include "concat_elimination.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <weft/dev/base/size_limits.h>
#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/rules/turns.h>
#include <weft/dev/schedule/ranges.h>

#include "kernel_slots.h"
#include "plan_steps.h"

namespace weft {
namespace {

// A concat of more parts stays one kernel.
constexpr std::size_t most_parts = 16;
constexpr double worth_a_kernel = 32768;  // operations
// What parts share, such as a stage, each of them computes: at most this many times the operations of the whole.
constexpr double most_repeated_by_parts = 1.1;

// Returns the END of a kernel that has only one, over a single plain STORE; null for other kernels.
const Node* only_end(const UOp& kernel) {
  if (kernel.is_null() || kernel->size() != 1) return nullptr;
  const Node* end = kernel->src(0);
  const bool fits = end->op() == Op::End && end->src(0)->op() == Op::Store &&
                    !end->src(0)->arg<StoreArg>().combine && end->src(0)->src(0)->op() == Op::Index;
  return fits ? end : nullptr;
}

// Returns whether each dimension is indexed by a loop, plus a constant perhaps, and each loop indexes one.
bool stores_each_element_once(const Node* end) {
  std::set<const Node*> open;
  for (const Node* loop : end->src().subspan(1))
    if (loop->op() == Op::Range) open.insert(loop);
  for (const Node* at : end->src(0)->src(0)->src().subspan(2)) {
    if (contains_op(at, {Op::Load})) return false;
    if (at->op() == Op::Add && at->src(1)->ranges().empty()) at = at->src(0);
    if (at->op() == Op::Range ? open.erase(at) == 0 : !at->ranges().empty()) return false;
  }
  return open.empty();
}

bool reads_memory(const Node* value) {
  return std::ranges::any_of(elementwise_below({value}), [](const Node* node) {
    return OpSet{Op::Load, Op::Reduce}.contains(node->op());
  });
}

// The loop along which a stored value switches between parts, and the boundaries of all parts.
struct PartBounds {
  const Node* loop = nullptr;
  std::vector<std::int64_t> ends = {};
};

PartBounds part_bounds(const Node* end) {
  const std::vector<const Node*> nodes = elementwise_below({end->src(0)->src(1)});
  for (const Node* loop : end->src().subspan(1)) {
    if (loop->op() != Op::Range || !loop->src(0)->is_const()) continue;
    std::vector<std::int64_t> turns;
    for (const Node* node : nodes)
      if (node->op() == Op::Where && reads_memory(node->src(1)) && reads_memory(node->src(2)))
        for (const Node* clause : clauses_of(node->src(0))) add_turns(clause, loop, turns);
    const auto ends = section_ends(std::move(turns), loop->src(0)->lo());
    if (ends.size() > 2 && ends.size() <= most_parts + 1) return {loop, ends};
  }
  return {};
}

// Inlines each STAGE that has a single LOAD, which reads every element once.
UOp without_single_stages(const UOp& kernel) {
  const Node* end = kernel->src(0);
  const std::vector<const Node*> values = elementwise_below({end->src(0)->src(1)});
  std::map<const Node*, std::vector<const Node*>> reads;
  for (const Node* node : toposort(kernel.node()))
    if (node->op() == Op::Load && node->src(0)->src(0)->op() == Op::Stage)
      reads[node->src(0)->src(0)].push_back(node);
  Substitution by;
  for (const auto& [stage, loads] : reads) {
    const Node* index = loads[0]->src(0);
    Substitution at;
    std::set<const Node*> loops;
    bool fits = loads.size() == 1 && index->src(1)->is_const_int(1) &&
                std::ranges::find(values, loads[0]) != values.end();
    for (std::size_t i = 1; i < stage->size() && fits; ++i) {
      const Node *own = stage->src(i), *read = index->src(i + 1);
      if (own->op() != Op::Range) continue;
      fits = read->op() == Op::Range && read->arg<RangeArg>().kind == LoopKind::Loop &&
             read->src(0) == own->src(0) && loops.insert(read).second;
      at.emplace(own, UOp(read));
    }
    const auto is_covered = [&](const Node* loop) {
      return loop->op() != Op::Range || loops.contains(loop);
    };
    fits = fits && std::ranges::all_of(end->src().subspan(1), is_covered);
    if (fits) by.emplace(loads[0], substitute(UOp(stage->src(0)), at));
  }
  return by.empty() ? kernel : substitute(kernel, by);
}

UOp part_of(const UOp& kernel, const PartBounds& joints, std::size_t part) {
  const std::int64_t first = joints.ends[part], size = joints.ends[part + 1] - first;
  const UOp own = range(size, fresh_id().value);
  std::vector<UOp> src{substitute(UOp(kernel->src(0)->src(0)), {{joints.loop, own + first}})};
  for (const Node* loop : kernel->src(0)->src().subspan(1))
    src.push_back(loop == joints.loop ? own : UOp(loop));
  const UOp sink = make(Op::Sink, {make(Op::End, src)}, {}, kernel->arg<KernelArg>());
  return with_size_name(without_single_stages(simplify(sink)));
}

// A kernel that computes each element of one buffer from one element of another.
struct Mapped {
  std::uint32_t from, to;
  const Node *load, *store;
  std::vector<const Node*> loops;  // by dimension of `from`; null where its size is 1
  bool is_copy() const { return store->src(1) == load; }
};

class ConcatEliminator {
 public:
  explicit ConcatEliminator(Plan& plan) : plan_(plan), is_own_(internal_slots(plan)) {}

  void run() {
    split();
    for (std::size_t step = 0; step < plan_.steps.size();) {
      if (concats_[step] == none || !try_eliminate(step)) {
        ++step;
        continue;
      }
      const auto at = static_cast<std::ptrdiff_t>(step);
      plan_.steps.erase(plan_.steps.begin() + at);
      concats_.erase(concats_.begin() + at);
      parts_only_.erase(parts_only_.begin() + at);
    }
  }

 private:
  static constexpr std::size_t none = 0;

  void split() {
    std::size_t concat = none;
    replace_steps(plan_, [&](const Step& step) {
      std::vector<Step> parts = parts_of(step);
      concats_.resize(concats_.size() + std::max<std::size_t>(parts.size(), 1),
                      parts.empty() ? none : ++concat);
      return parts;
    });
    parts_only_.resize(concats_.size());
  }

  // Returns a step for each part; none if the kernel should stay whole.
  std::vector<Step> parts_of(const Step& step) const {
    const Node* end = only_end(step.kernel);
    const PartBounds joints = end == nullptr ? PartBounds() : part_bounds(end);
    std::vector<Step> parts;
    if (joints.loop == nullptr) return parts;
    double flops = 0;
    for (std::size_t i = 0; i + 1 < joints.ends.size(); ++i) {
      parts.push_back(step_like(step, part_of(step.kernel, joints, i), step.slots));
      if (!is_worth_a_kernel(parts.back(), expensive_ops(end, joints.loop)) &&
          !mapped(parts.back()))
        return {};
      flops += parts.back().work.flops;
    }
    const bool is_repeated = flops > most_repeated_by_parts * work_of(step.kernel).flops;
    return is_repeated ? std::vector<Step>{} : parts;
  }

  static bool is_worth_a_kernel(const Step& step, OpSet expensive_ops) {
    return step.work.flops >= least_work(worth_a_kernel) &&
           contains_op(step.kernel.node(), expensive_ops);
  }

  // Returns the ops that make a part worth a kernel. If the innermost dimension is the concat's,
  // vector lanes of a single kernel would evaluate such functions of all parts. Along other loops,
  // index-set splitting avoids that.
  static OpSet expensive_ops(const Node* end, const Node* loop) {
    const NodeList at = end->src(0)->src(0)->src().subspan(2);
    for (std::size_t d = at.size(); d-- > 0;)
      if (!at[d]->ranges().empty())
        return at[d] == loop ? OpSet{Op::Reduce, Op::Exp2, Op::Log2, Op::Sin, Op::Cos, Op::Pow}
                             : OpSet{Op::Reduce};
    return {Op::Reduce};
  }

  // Recognises a step that reads all of an internal buffer, with a loop per dimension, through one
  // PARAM and no other.
  std::optional<Mapped> mapped(const Step& step) const {
    const Node* end = only_end(step.kernel);
    if (end == nullptr || !end->src(0)->src(0)->src(1)->is_const_int(1) ||
        !stores_each_element_once(end) ||
        contains_op(step.kernel.node(), {Op::Reduce, Op::Stage, Op::After}))
      return {};
    for (const Node* node : toposort(end->src(0)->src(1)))
      if (auto found = mapped_from(step, end, node)) return found;
    return {};
  }

  std::optional<Mapped> mapped_from(const Step& step, const Node* end, const Node* load) const {
    if (load->op() != Op::Load || load->src(0)->src(0)->op() != Op::Param) return {};
    const Node *index = load->src(0), *target = end->src(0)->src(0)->src(0);
    Mapped found{slot_of(step, index->src(0)), slot_of(step, target), load, end->src(0), {}};
    if (!is_own_[found.from] || plan_.slots[found.to].input || found.from == found.to ||
        !index->src(1)->is_const_int(1))
      return {};
    if (index->src(0)->dtype() != target->dtype() && found.is_copy()) return {};
    std::set<const Node*> open;
    for (const Node* loop : end->src().subspan(1))
      if (loop->op() == Op::Range) open.insert(loop);
    const NodeList dims = index->src(0)->dims();
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const Node* at = index->src(d + 2);
      const bool is_one = dims[d]->is_const_int(1) && at->is_const_int(0);
      if (!is_one && (at->op() != Op::Range || at->src(0) != dims[d] || open.erase(at) == 0))
        return {};
      found.loops.push_back(is_one ? nullptr : at);
    }
    if (!open.empty()) return {};
    // No other element of that buffer is read, through this PARAM or another.
    for (const Node* other : toposort(end->src(0)->src(1)))
      if ((other->op() == Op::Param && other != index->src(0) &&
           slot_of(step, other) == found.from) ||
          (other->op() == Op::Index && other != index && other->src(0) == index->src(0)))
        return {};
    return found;
  }

  // Moves a step's work into the steps that access its source. Returns whether that was possible.
  bool try_eliminate(std::size_t number) {
    const auto found = mapped(plan_.steps[number]);
    if (!found) return false;
    std::vector<std::size_t> users;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      if (i == number || !touches(step, found->from)) continue;
      if (step.kernel.is_null() || step.device != plan_.steps[number].device ||
          touches(step, found->to) ||
          KernelSlots(step, i).touched_otherwise().contains(found->from))
        return false;
      users.push_back(i);
    }
    if (!may_take_its_place(number, *found, users)) return false;
    if (found->is_copy())
      for (const std::size_t user : users) move_memory(plan_.steps[user], *found);
    else if (users.size() != 1 || !fuse_into(plan_.steps[users[0]], plan_.steps[number], *found))
      return false;
    for (const std::size_t user : users) parts_only_[user][found->to] = concats_[number];
    return true;
  }

  // Returns whether no step accesses the destination as long as the source is used, but for those that access other parts
  // alone, and for readers behind the step.
  bool may_take_its_place(std::size_t number, const Mapped& found,
                          const std::vector<std::size_t>& users) const {
    if (users.empty()) return false;
    const std::size_t concat = concats_[number];
    const bool stays = std::ranges::all_of(users, [&](std::size_t user) {
      return user < number || has_access(plan_.steps[user], found.from, Access::Read);
    });
    for (std::size_t i = users[0]; i <= std::max(users.back(), number); ++i) {
      const Step& step = plan_.steps[i];
      if (!touches(step, found.to)) continue;
      if (concats_[i] == concat && has_access(step, found.to, Access::Write)) continue;
      if (i > number && stays && has_access(step, found.to, Access::Read)) continue;
      const auto part = parts_only_[i].find(found.to);
      if (part == parts_only_[i].end() || part->second != concat) return false;
    }
    return true;
  }

  static bool touches(const Step& step, std::uint32_t slot) {
    return std::ranges::find(step.slots, slot) != step.slots.end();
  }

  static bool has_access(const Step& step, std::uint32_t slot, Access access) {
    if (step.kernel.is_null())
      return access == (step.slots[0] == slot ? Access::Write : Access::Read);
    const Node* param = param_for(step, slot);
    return param != nullptr && param->arg<ParamArg>().access == access;
  }

  static const Node* param_for(const Step& step, std::uint32_t slot) {
    for (const Node* node : toposort(step.kernel.node()))
      if (node->op() == Op::Param && slot_of(step, node) == slot) return node;
    return nullptr;
  }

  // Moves the step's accesses from the source of the copy to its destination.
  void move_memory(Step& step, const Mapped& copy) const {
    const Node* param = param_for(step, copy.from);
    const UOp own = with_sources(UOp(param), sizes_of(plan_.slots[copy.to].buffer));
    Substitution moved;
    for (const Node* node : toposort(step.kernel.node())) {
      if (node->op() != Op::Index || node->src(0) != param) continue;
      // The condition and the indices may read the buffer as well.
      Substitution loops;
      for (std::size_t d = 0; d < copy.loops.size(); ++d)
        if (copy.loops[d] != nullptr)
          loops.emplace(copy.loops[d], substitute(UOp(node->src(d + 2)), moved));
      std::vector<UOp> at;
      for (const Node* index : copy.store->src(0)->src().subspan(2))
        at.push_back(substitute(UOp(index), loops));
      moved.emplace(node, place(own, substitute(UOp(node->src(1)), moved), at));
    }
    step.kernel = with_size_name(simplify(substitute(step.kernel, moved)));
    std::ranges::replace(step.slots, copy.from, copy.to);
  }

  // Returns whether a step between the two writes a buffer that `step` accesses, except `stored`.
  static bool is_written_between(const Step& maker, const Step& step, std::uint32_t stored) {
    for (const Step* other = &maker + 1; other != &step; ++other)
      for (std::size_t i = 0; i < other->slots.size(); ++i)
        if (other->slots[i] != stored && touches(step, other->slots[i]) && is_written_by(*other, i))
          return true;
    return false;
  }

  static bool is_written_by(const Step& step, std::size_t number) {
    if (step.kernel.is_null()) return number == 0;
    const Node* param = param_for(step, step.slots[number]);
    return param != nullptr && writes(param->arg<ParamArg>().access);
  }

  // Fuses the step into the kernel that writes its source. Returns whether that was possible.
  bool fuse_into(Step& maker, const Step& step, const Mapped& by) const {
    const Node* param = param_for(maker, by.from);
    const Node* store = nullptr;
    for (const Node* node : toposort(maker.kernel.node())) {
      if (node->op() == Op::Load && node->src(0)->src(0) == param) return false;
      if (node->op() != Op::Store || node->src(0)->src(0) != param) continue;
      if (store != nullptr || node->arg<StoreArg>().combine) return false;
      store = node;
    }
    if (store == nullptr || !store->src(0)->src(1)->is_const_int(1)) return false;
    if (is_written_between(maker, step, by.to)) return false;
    std::vector<std::uint32_t> slots = maker.slots;
    Substitution inside;  // maps the step's PARAMs and loops to the maker
    for (const Node* node : toposort(step.kernel.node())) {
      if (node->op() != Op::Param) continue;
      const std::uint32_t slot = slot_of(step, node);
      if (slot == by.from) continue;
      if (const Node* known = param_for(maker, slot)) {
        if (writes(known->arg<ParamArg>().access)) return false;
        inside.emplace(node, UOp(known));
        continue;
      }
      inside.emplace(node, with_number(node, slots.size()));
      slots.push_back(slot);
    }
    for (std::size_t d = 0; d < by.loops.size(); ++d)
      if (by.loops[d] != nullptr) inside.emplace(by.loops[d], UOp(store->src(0)->src(d + 2)));
    inside.emplace(by.load, UOp(store->src(1)));
    const UOp next = substitute(UOp(by.store), inside);
    maker = step_like(maker, with_size_name(simplify(substitute(maker.kernel, {{store, next}}))),
                      slots);
    return true;
  }

  Plan& plan_;
  std::vector<bool> is_own_;          // by slot
  std::vector<std::size_t> concats_;  // by step: the split kernel that it is part of
  // By step: the slots of which it accesses no more than one part, and the split kernels whose parts these are.
  std::vector<std::map<std::uint32_t, std::size_t>> parts_only_;
};

}  // namespace

void eliminate_concats(Plan& plan) { ConcatEliminator(plan).run(); }

}  // namespace weft
