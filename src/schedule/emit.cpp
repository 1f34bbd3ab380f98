#include "emit.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <weft/dev/ir/below.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/ranges.h>
#include <weft/dev/schedule/region.h>

#include "loops/step_loop.h"
#include "plan_steps.h"

namespace weft {
namespace {

// The partition points that are inlined or staged.
struct ComputedPoints {
  struct Staged {
    UniqueId id;
    std::vector<UOp> loops;
  };
  // A point, the indices of the outer loops at a read, and the condition under which these fill the
  // stage. Reads in two sums get a STAGE each, even if later rewrites merge the sums.
  using Read = std::tuple<std::size_t, std::vector<const Node*>, const Node*>;

  const Partition& partition;
  const Fusion& fusion;
  mutable std::map<Read, Staged> stages = {};

  const Staged& staged_for(const Read& read, NodeList dims) const {
    const auto [staged, is_new] = stages.try_emplace(read);
    if (is_new) staged->second = {fresh_id(), loops_over(dims)};
    return staged->second;
  }
};

// Returns the value at the indices of a LOAD. Like the LOAD, the result is 0 or the LOAD's second
// source where the index is not valid.
UOp inline_value(const Node* load, const UOp& value) {
  const Node* index = load->src(0);
  const UOp valid(index->src(1));
  const auto at = index->src().subspan(2);
  UOp inlined = element(value, valid, {at.begin(), at.end()});
  if (valid->is_const_int(1)) return inlined;
  return where(valid, inlined, load->size() > 1 ? UOp(load->src(1)) : const_int(0, load->dtype()));
}

bool is_within(const Node* at, const Node* size) {
  const bool is_its_loop = at->op() == Op::Range && at->src(0) == size;
  return is_its_loop || (at->lo() >= 0 && size->is_const() && at->hi() < size->lo());
}

bool is_among(const Node* range, const std::vector<const Node*>& indices) {
  return std::ranges::any_of(indices,
                             [&](const Node* index) { return changes_with(index, range); });
}

// Returns the clauses of a read's condition that depend only on the loops around a stage. A part of
// a concat along such a loop, for example, has no elements in the iterations of the other parts.
UOp fills(const Node* valid, const std::vector<const Node*>& outside) {
  UOp result = const_bool(true);
  for (const Node* clause : clauses_of(valid))
    if (std::ranges::all_of(clause->ranges(), [&](auto range) { return is_among(range, outside); }))
      result = result & UOp(clause);
  return result;
}

UOp read_stage(const Node* load, std::size_t number, const ComputedPoints& computed) {
  const PartitionPoint& point = computed.partition.points[number];
  const std::vector<bool>& is_outside = computed.fusion.placements[number].outside;
  const NodeList sizes = point.placeholder->dims();
  const Node* index = load->src(0);
  const auto read = index->src().subspan(2);
  std::vector<const Node*> outside;
  bool stays = true;
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!is_outside[i]) continue;
    outside.push_back(read[i]);
    stays = stays && is_within(read[i], sizes[i]);
  }
  const UOp filled = stays ? const_bool(true) : fills(index->src(1), outside);
  const auto& [id, loops] = computed.staged_for({number, outside, filled.node()}, sizes);
  std::vector<UOp> at, inside, src{UOp()};
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (is_outside[i]) {
      at.emplace_back(read[i]);
    } else {
      at.push_back(loops[i]);
      src.push_back(loops[i]);
      inside.emplace_back(read[i]);
    }
  }
  src[0] = element(point.value, filled, at);
  const UOp stage = make(Op::Stage, src, {}, StageArg{id, Space::Scratch, {}});
  if (point.origin) Interner::current().annotate(stage.node(), *point.origin);
  std::vector<UOp> loaded{place(stage, UOp(index->src(1)), inside)};
  for (const Node* other : load->src().subspan(1)) loaded.emplace_back(other);
  return make(Op::Load, loaded);
}

UOp through_computed(const Match& m) {
  const auto& computed = *m.context<ComputedPoints>();
  const auto point = computed.partition.point_of(m.root()->src(0)->src(0));
  if (!point) return {};
  const auto where = computed.fusion.placements[*point].where;
  if (where == Placement::Memory) return {};
  return where == Placement::Inline
             ? inline_value(m.root(), computed.partition.points[*point].value)
             : read_stage(m.root(), *point, computed);
}

const RuleSet& kernel_rules() {
  static const RuleSet computed{
      "computed",
      {rule(with_more(node(Op::Load, {with_more(node(Op::Index, {node(Op::Buffer)}))})),
            through_computed)}};
  static const RuleSet sets[] = {{"kernel", {&computed, &ranges_rules(Algebra::Off)}},
                                 {"kernel", {&computed, &ranges_rules(Algebra::Exact)}},
                                 {"kernel", {&computed, &ranges_rules(Algebra::Fast)}}};
  return sets[static_cast<std::size_t>(algebra_in_force())];
}

class Emitter {
 public:
  Emitter(const Partition& partition, const Fusion& fusion, Plan& plan)
      : partition_(partition), fusion_(fusion), plan_(plan) {}

  void emit() {
    for (const FusedKernel& kernel : fusion_.kernels) {
      const PartitionPoint& first = partition_.points[kernel.outputs[0]];
      if (first.is_copy)
        emit_copy(kernel);
      else if (first.loop != nullptr)
        emit_loop(first);
      else if (elements(target_of(first)->dims()) > 0)
        emit(kernel);
    }
    for (const UOp& root : partition_.roots) plan_.roots.push_back(in_memory(root));
  }

 private:
  std::uint32_t slot_of(const Node* placeholder) {
    const auto point = partition_.point_of(placeholder);
    const Node* storage = point ? memory_[*point] : placeholder;
    const auto next = static_cast<std::uint32_t>(plan_.slots.size());
    const auto [slot, is_new] = slots_.emplace(storage->arg<BufferArg>().id.value, next);
    if (is_new) plan_.slots.push_back({.buffer = UOp(storage)});
    return slot->second;
  }

  UOp in_memory(const UOp& root) {
    Substitution storages;
    for (const Node* placeholder : placeholders_of(nodes_of({&root, 1})))
      storages.emplace(placeholder, plan_.slots[slot_of(placeholder)].buffer);
    return substitute(root, storages);
  }

  std::vector<Origin> origins_of(const std::vector<std::size_t>& outputs) const {
    std::vector<Origin> origins;
    for (std::size_t output : outputs)
      if (const auto& origin = partition_.points[output].origin) origins.push_back(*origin);
    return origins;
  }

  void emit_copy(const FusedKernel& kernel) {
    const PartitionPoint& point = partition_.points[kernel.outputs[0]];
    const Region from = copied_from(point);
    plan_.steps.push_back({.kernel = {},
                           .device = point.device,
                           .slots = {slot_of(point.placeholder.node()), slot_of(from.buffer)},
                           .offset = from.offset,
                           .work = kernel.work,
                           .origins = origins_of(kernel.outputs)});
  }

  void emit_loop(const PartitionPoint& point) {
    std::vector<std::uint32_t> given;
    for (const Node* placeholder : point.value->src()) given.push_back(slot_of(placeholder));
    plan_.steps.push_back(loop_step(*point.loop, given, plan_));
  }

  // A loop nest over one shape, and the outputs that it stores.
  struct Nest {
    const Node* shape;
    std::vector<UOp> loops;
    std::vector<std::size_t> outputs;
  };

  // Outputs of equal shape share a nest.
  std::vector<Nest> nests_of(const FusedKernel& kernel) const {
    std::vector<Nest> nests;
    for (std::size_t output : kernel.outputs) {
      const UOp& written = target_of(partition_.points[output]);
      auto nest = std::ranges::find(nests, written->shape(), &Nest::shape);
      if (nest == nests.end())
        nest = nests.insert(nests.end(), Nest{written->shape(), loops_over(written->dims()), {}});
      nest->outputs.push_back(output);
    }
    return nests;
  }

  // Returns a LOAD of the target element and the value of every output, in the order of the nests.
  std::vector<UOp> opened(const std::vector<Nest>& nests) const {
    std::vector<UOp> elements;
    for (const Nest& nest : nests)
      for (std::size_t output : nest.outputs) {
        const PartitionPoint& point = partition_.points[output];
        elements.push_back(target_in(point, nest.loops));
        elements.push_back(element_in(point.value, nest.loops));
      }
    return rewrite(elements, kernel_rules(), {.context = &computed_});
  }

  void emit(const FusedKernel& kernel) {
    const std::vector<Nest> nests = nests_of(kernel);
    const std::vector<UOp> elements = opened(nests);
    auto next = elements.begin();
    std::vector<UOp> effects;
    for (const Nest& nest : nests) {
      std::vector<UOp> stores;
      for (std::size_t output : nest.outputs) {
        const UOp target = *next++, value = *next++;
        stores.push_back(
            make(Op::Store, {target.src(0), value}, {}, partition_.points[output].store));
      }
      effects.push_back(loop_nest(stores, nodes_of(nest.loops)));
    }
    Step step{.kernel = {},
              .device = partition_.points[kernel.outputs[0]].device,
              .slots = {},
              .offset = 0,
              .work = kernel.work,
              .origins = origins_of(kernel.outputs)};
    const UOp sink =
        with_params(rewrite(make(Op::Sink, effects, {}, KernelArg{}), algebra()), step.slots);
    step.kernel = with_size_name(sink);
    plan_.steps.push_back(std::move(step));
  }

  // Replaces BUFFERs by PARAMs and appends their slots: written ones first, then those only read,
  // each in topological order.
  UOp with_params(const UOp& sink, std::vector<std::uint32_t>& slots) {
    std::vector<const Node*> written, touched;
    std::set<std::uint32_t> read;
    for (const Node* node : toposort(sink.node())) {
      if (node->op() == Op::Store) written.push_back(node->src(0)->src(0));
      if (node->op() == Op::Store && node->arg<StoreArg>().combine)
        read.insert(slot_of(node->src(0)->src(0)));
      if (node->op() == Op::Load && node->src(0)->src(0)->op() == Op::Buffer) {
        touched.push_back(node->src(0)->src(0));
        read.insert(slot_of(touched.back()));
      }
    }
    const std::size_t outputs = written.size();
    written.insert(written.end(), touched.begin(), touched.end());
    Substitution params;
    for (std::size_t i = 0; i < written.size(); ++i) {
      const Node* placeholder = written[i];
      const std::uint32_t slot = slot_of(placeholder);
      auto at = std::ranges::find(slots, slot);
      if (at == slots.end()) at = slots.insert(slots.end(), slot);
      if (params.contains(placeholder)) continue;
      const bool is_written = std::ranges::any_of(
          std::span(written).first(outputs), [&](auto other) { return slot_of(other) == slot; });
      const UOp& buffer = plan_.slots[slot].buffer;
      const bool is_constant = buffer->arg<BufferArg>().space == Space::Constant;
      const Access access = is_written && read.contains(slot) ? Access::ReadWrite
                            : is_written                      ? Access::Write
                            : is_constant                     ? Access::Constant
                                                              : Access::Read;
      const ParamArg arg{static_cast<std::int32_t>(at - slots.begin()), access, 0};
      params.emplace(placeholder, make(Op::Param, sizes_of(buffer), placeholder->dtype(), arg));
    }
    return substitute(sink, params);
  }

  const Partition& partition_;
  const Fusion& fusion_;
  Plan& plan_;
  const ComputedPoints computed_{partition_, fusion_};
  const std::vector<const Node*> memory_ = partition_.first_versions();  // by point
  std::map<std::uint64_t, std::uint32_t> slots_;  // by the id of the placeholder
};

}  // namespace

void emit(const Partition& partition, const Fusion& fusion, Plan& plan) {
  Emitter(partition, fusion, plan).emit();
}

}  // namespace weft
