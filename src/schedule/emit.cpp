#include "emit.h"

#include <algorithm>
#include <map>
#include <set>

#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/movement.h>
#include <weft/dev/rules/symbolic.h>
#include <weft/dev/schedule/ranges.h>
#include <weft/dev/schedule/region.h>
#include <weft/error.h>

#include "graph/reshape.h"
#include "loops/step_loop.h"
#include "plan_steps.h"

namespace weft {
namespace {

// A partition point that is not materialised but inlined or staged.
struct Computed {
  struct Staged {
    UniqueId id;
    std::vector<UOp> loops;
  };

  const UOp* value;
  const Placement* placement;
  NodeList sizes;
  std::optional<Origin> origin;
  // The indices of the outer loops at a read, and the condition under which these fill the stage.
  // Reads in two sums get a STAGE each, even if later rewrites merge the sums.
  using Around = std::pair<std::vector<const Node*>, const Node*>;
  mutable std::map<Around, Staged> stages = {};

  const Staged& staged_in(const Around& around) const {
    const auto [staged, is_new] = stages.try_emplace(around);
    if (is_new) {
      staged->second.id = fresh_id();
      for (const Node* size : sizes)
        staged->second.loops.push_back(range(size_as_index(size), fresh_id().value));
    }
    return staged->second;
  }
};
using ComputedPlaceholders = std::map<std::uint64_t, Computed>;  // by the id of the placeholder

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
  return std::ranges::any_of(indices, [&](const Node* index) {
    return std::ranges::find(index->ranges(), range) != index->ranges().end();
  });
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

UOp read_stage(const Node* load, const Computed& computed) {
  const Node* index = load->src(0);
  const auto read = index->src().subspan(2);
  std::vector<const Node*> outside;
  bool stays = true;
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!computed.placement->outside[i]) continue;
    outside.push_back(read[i]);
    stays = stays && is_within(read[i], computed.sizes[i]);
  }
  const UOp filled = stays ? const_bool(true) : fills(index->src(1), outside);
  const Computed::Staged& staged = computed.staged_in({outside, filled.node()});
  std::vector<UOp> at, inside, src{UOp()};
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (computed.placement->outside[i]) {
      at.emplace_back(read[i]);
    } else {
      at.push_back(staged.loops[i]);
      src.push_back(staged.loops[i]);
      inside.emplace_back(read[i]);
    }
  }
  src[0] = element(*computed.value, filled, at);
  const UOp stage = make(Op::Stage, src, {}, StageArg{staged.id, Space::Scratch, {}});
  if (computed.origin) Interner::current().annotate(stage.node(), *computed.origin);
  std::vector<UOp> loaded{place(stage, UOp(index->src(1)), inside)};
  for (const Node* other : load->src().subspan(1)) loaded.emplace_back(other);
  return make(Op::Load, loaded);
}

UOp through_computed(const Match& m) {
  const Node* placeholder = m.root()->src(0)->src(0);
  const auto* placeholders = m.context<ComputedPlaceholders>();
  if (placeholders == nullptr) return {};
  const auto found = placeholders->find(placeholder->arg<BufferArg>().id.value);
  if (found == placeholders->end()) return {};
  const Computed& computed = found->second;
  return computed.placement->where == Placement::Inline ? inline_value(m.root(), *computed.value)
                                                        : read_stage(m.root(), computed);
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
      else if (elements(written_by(first)->dims()) > 0)
        emit(kernel);
    }
    for (const UOp& root : partition_.roots) plan_.roots.push_back(in_memory(root));
  }

 private:
  // Returns the first version of the placeholder's memory: each assignment creates a new version.
  const Node* storage_of_placeholder(const Node* placeholder) const {
    while (const auto point = partition_.point_of(placeholder)) {
      const UOp& before = partition_.points[*point].before;
      if (before.is_null()) break;
      placeholder = before.node();
    }
    return placeholder;
  }

  std::uint32_t slot_of(const Node* placeholder) {
    const Node* storage = storage_of_placeholder(placeholder);
    const auto next = static_cast<std::uint32_t>(plan_.slots.size());
    const auto [slot, is_new] = slots_.emplace(storage->arg<BufferArg>().id.value, next);
    if (is_new) plan_.slots.push_back({.buffer = UOp(storage)});
    return slot->second;
  }

  UOp in_memory(const UOp& root) {
    Substitution storages;
    for (const Node* node : toposort(root.node()))
      if (node->op() == Op::Buffer) storages.emplace(node, plan_.slots[slot_of(node)].buffer);
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

  ComputedPlaceholders computed_placeholders() const {
    ComputedPlaceholders placeholders;
    for (std::size_t i = 0; i < partition_.points.size(); ++i) {
      const Placement& placement = fusion_.placements[i];
      if (placement.where == Placement::Memory) continue;
      const PartitionPoint& point = partition_.points[i];
      placeholders.emplace(
          point.placeholder->arg<BufferArg>().id.value,
          Computed{&point.value, &placement, point.placeholder->dims(), point.origin});
    }
    return placeholders;
  }

  // A loop nest over one shape, and the outputs that it stores.
  struct Nest {
    const Node* shape;
    std::vector<UOp> loops;
    std::vector<std::size_t> outputs;
  };

  static const UOp& written_by(const PartitionPoint& point) {
    return point.place.is_null() ? point.placeholder : point.place;
  }

  // Outputs of equal shape share a nest.
  std::vector<Nest> nests_of(const FusedKernel& kernel) const {
    std::vector<Nest> nests;
    for (std::size_t output : kernel.outputs) {
      const UOp& written = written_by(partition_.points[output]);
      auto nest = std::ranges::find(nests, written->shape(), &Nest::shape);
      if (nest == nests.end()) {
        nest = nests.insert(nests.end(), Nest{written->shape(), {}, {}});
        for (const Node* size : written->dims())
          nest->loops.push_back(range(size_as_index(size), fresh_id().value));
      }
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
        const UOp& written = written_by(point);
        const auto at = [&](const UOp& tensor) {
          return element(tensor, const_bool(true),
                         tensor->shape() == nullptr ? std::vector<UOp>{} : nest.loops);
        };
        elements.push_back(at(written->op() == Op::Index ? make(Op::Load, {written}) : written));
        elements.push_back(at(point.value));
      }
    return rewrite(elements, kernel_rules(), {.context = &placeholders_});
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
      std::vector<UOp> src{stores.size() == 1 ? stores[0] : tuple(stores)};
      src.insert(src.end(), nest.loops.begin(), nest.loops.end());
      effects.push_back(make(Op::End, src));
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
      const Access access = is_written && read.contains(slot) ? Access::ReadWrite
                            : is_written                      ? Access::Write
                            : is_constant(slot)               ? Access::Constant
                                                              : Access::Read;
      const ParamArg arg{static_cast<std::int32_t>(at - slots.begin()), access, 0};
      params.emplace(placeholder, make(Op::Param, sizes_of(plan_.slots[slot].buffer),
                                       placeholder->dtype(), arg));
    }
    return substitute(sink, params);
  }

  bool is_constant(std::uint32_t slot) const {
    return plan_.slots[slot].buffer->arg<BufferArg>().space == Space::Constant;
  }

  const Partition& partition_;
  const Fusion& fusion_;
  Plan& plan_;
  const ComputedPlaceholders placeholders_ = computed_placeholders();
  std::map<std::uint64_t, std::uint32_t> slots_;  // by the id of the placeholder
};

}  // namespace

void emit(const Partition& partition, const Fusion& fusion, Plan& plan) {
  Emitter(partition, fusion, plan).emit();
}

}  // namespace weft
