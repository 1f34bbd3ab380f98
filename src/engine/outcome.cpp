#include "outcome.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <unordered_map>

#include <weft/dev/device/buffer.h>
#include <weft/dev/engine/storage.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/value.h>

#include "run.h"

namespace weft {
namespace {

// A slot that a root only reshapes has the root's shape from now on.
const Node* shaped_like(const UOp& root, const Node* slot) {
  return root->op() == Op::Reshape && root->src(0) == slot ? root.node() : slot;
}

// Where each BUFFER of the plan is among its slots.
using SlotOf = std::unordered_map<std::uint64_t, std::size_t>;

// Memory that is assigned to is a new BUFFER from then on: what was computed from the old one is not taken
// for what the same graph would give now.
void renew_overwritten(const Plan& plan, const Resolved& resolved, const SlotOf& slot_of,
                       Results& results) {
  std::unordered_map<std::size_t, std::size_t> number;  // by slot, among those that are overwritten
  for (std::size_t i = 0; i < plan.roots.size(); ++i) {
    if (resolved.roots[i].tensor->op() != Op::After) continue;
    for (const Node* buffer : buffers_of(plan.roots[i].node())) {
      const std::size_t slot = slot_of.at(buffer->arg<BufferArg>().id.value);
      const auto input = plan.slots[slot].input;
      if (!input) continue;
      const UOp& before = resolved.buffers[*input];
      if (number.emplace(slot, results.overwritten.size()).second) {
        results.buffers[slot] =
            new_buffer(before->dtype(), sizes_of(before), memory_of(before.node()));
        results.overwritten.push_back({before, {}});
      }
      results.overwritten[number.at(slot)].roots.push_back(i);
    }
  }
}

}  // namespace

Results results_of(const Plan& plan, const Resolved& resolved) {
  Results results{std::vector<UOp>(plan.slots.size()), {}, {}};
  std::vector<const Node*> nodes;
  SlotOf slot_of;
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    slot_of.emplace(plan.slots[i].buffer->arg<BufferArg>().id.value, i);
    if (const auto& input = plan.slots[i].input) results.buffers[i] = resolved.buffers[*input];
  }
  renew_overwritten(plan, resolved, slot_of, results);
  for (const auto* list : {&plan.roots, &plan.variables})
    for (const UOp& uop : *list) nodes.push_back(uop.node());
  const InternerScope scope(shared_graph());
  const std::vector<UOp> imported = import_graph(nodes, *plan.arena, shared_graph());
  Substitution known;
  Assignment lengths;
  for (std::size_t i = 0; i < plan.variables.size(); ++i) {
    const Node* variable = imported[plan.roots.size() + i].node();
    known.emplace(variable, resolved.variables[i]);
    if (resolved.lengths.contains(resolved.variables[i]->arg<VariableArg>().id.value))
      lengths.emplace(variable, bits_from_int(resolved.values[i], variable->dtype()));
  }
  const auto size_now = [&](const Node* size) {
    const auto number = lengths.empty() ? std::nullopt : evaluate(size, lengths);
    return number ? const_int(int_from_bits(*number, size->dtype()), size->dtype())
                  : substitute(UOp(size), known);
  };
  // By the program's variables: those of a plan that others made, or that comes from the disk, are its own.
  const auto sizes_now = [&](const Node* node) {
    Sizes sizes;
    for (const Node* size : node->dims()) sizes.push_back(size_now(size));
    return sizes;
  };
  if (!lengths.empty())
    for (const Node* node : toposort(nodes_of(imported)))
      if (node->dtype().is_index()) known.insert_or_assign(node, size_now(node));
  for (std::size_t i = 0; i < plan.roots.size(); ++i) {
    const UOp& root = imported[i];
    for (const Node* node : toposort(root.node())) {
      if (node->op() != Op::Buffer || known.contains(node)) continue;
      UOp& buffer = results.buffers[slot_of.at(node->arg<BufferArg>().id.value)];
      if (buffer.is_null())
        buffer = new_buffer(node->dtype(), sizes_now(shaped_like(root, node)),
                            find_device(node->arg<BufferArg>().device.get()));
      known.emplace(node, reshape(buffer, sizes_now(node)));
    }
    results.roots.push_back(reshape(substitute(root, known), sizes_now(root.node())));
  }
  return results;
}

std::vector<Writes> writes_of_roots(const Plan& plan) {
  std::vector<std::vector<std::size_t>> of_slot(plan.slots.size());
  std::map<std::vector<std::size_t>, Writes> of_slots;
  std::vector<Writes> result;
  SlotOf slot_of;
  for (std::size_t i = 0; i < plan.slots.size(); ++i)
    slot_of.emplace(plan.slots[i].buffer->arg<BufferArg>().id.value, i);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const std::vector<Access> accesses = accesses_of(plan.steps[i]);
    for (std::size_t argument = 0; argument < accesses.size(); ++argument)
      if (writes(accesses[argument])) of_slot[plan.steps[i].slots[argument]].push_back(i + 1);
  }
  for (const UOp& root : plan.roots) {
    std::vector<std::size_t> slots;
    for (const Node* buffer : buffers_of(root.node()))
      slots.push_back(slot_of.at(buffer->arg<BufferArg>().id.value));
    Writes& writes = of_slots[slots];
    if (writes == nullptr) {
      std::set<std::size_t> all;
      for (const std::size_t slot : slots) all.insert(of_slot[slot].begin(), of_slot[slot].end());
      writes = std::make_shared<std::vector<std::size_t>>(all.begin(), all.end());
    }
    result.push_back(writes);
  }
  return result;
}

namespace {

// Counts assignments below versions, many of which may be versions of one memory.
class AssignmentCount {
 public:
  std::size_t below(const Node* version) {
    std::vector<const Node*> open;
    std::size_t count = 0;
    for (; version->op() == Op::After; version = version->src(0)) {
      if (const auto known = known_.find(version); known != known_.end()) {
        count = known->second;
        break;
      }
      open.push_back(version);
    }
    for (const Node* each : open | std::views::reverse) known_.emplace(each, ++count);
    return count;
  }

 private:
  std::unordered_map<const Node*, std::size_t> known_;
};

}  // namespace

Outcome::Outcome(const Results& results, const std::vector<UOp>& tensors,
                 const std::vector<Writes>& writes) {
  std::vector<std::size_t> steps;
  for (const Writes& own : writes) steps.push_back(own->empty() ? 0 : own->back());
  AssignmentCount assignments;
  for (const auto& [before, roots] : results.overwritten) {
    const auto& own = *writes[roots[0]];
    gone_.push_back({Loss(before), own.empty() ? 0 : own.front()});
    std::map<std::size_t, std::vector<std::size_t>> in_order;  // the roots, some of which are equal
    for (const std::size_t root : roots)
      in_order[assignments.below(tensors[root].node())].push_back(root);
    if (own.size() != in_order.size()) continue;
    auto step = own.begin();  // each assignment has one of its own
    for (const auto& [number, equal] : in_order) {
      for (const std::size_t root : equal) steps[root] = *step;
      ++step;
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) add(tensors[i], results.roots[i], steps[i]);
}

// Nodes that are the same elements in the same order know where they are. But not views of memory below the tensor,
// which is a copy of them, nor what has been computed before.
void Outcome::add(const UOp& tensor, const UOp& result, std::size_t steps) {
  shared_graph().inherit(result.node(), tensor.node(), shared_graph());
  const Node* node = tensor.node();
  do {
    shared_graph().make_room<UOp>(node);
    auto memory = std::make_shared<UOp>(reshape(result, sizes_of(UOp(node))));
    found_.insert_or_assign(node, Found{UOp(node), std::move(memory), steps});
    if (!OpSet{Op::Reshape, Op::Contiguous, Op::Detach}.contains(node->op())) break;
    node = node->src(0);
  } while (!found_.contains(node) && shared_graph().attached<UOp>(node) == nullptr &&
           !OpSet{Op::Buffer, Op::Multi, Op::After}.contains(version_below(node)->op()));
}

void Outcome::tell(std::size_t steps_done) const noexcept {
  for (const auto& [node, found] : found_)
    if (found.steps <= steps_done) shared_graph().attach(node, found.memory);
  for (const Gone& gone : gone_)
    if (gone.steps <= steps_done) gone.loss.happen();
}

UOp computed(const Node* node) {
  if (node->op() == Op::Buffer) return UOp(node);
  const auto note = shared_graph().attached<UOp>(node);
  return note != nullptr ? *note : UOp();
}

namespace {

bool is_on_a_device(const Node* node) {
  return std::ranges::any_of(toposort(node), [](const Node* below) {
    return OpSet{Op::Buffer, Op::Copy}.contains(below->op());
  });
}

}  // namespace

UOp computed_for(const Node* node, Symbol device) {
  UOp known = computed(node);
  if (known.is_null()) return known;
  return device_of(version_below(known.node())) != device && !is_on_a_device(node) ? UOp() : known;
}

}  // namespace weft
