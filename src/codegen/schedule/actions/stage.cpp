// STAGE: copies what is read into memory of the kernel beforehand.

#include <algorithm>
#include <map>

#include <weft/dev/ir/memory.h>

#include "fills.h"
#include "groups.h"
#include "kernel_loops.h"
#include "staged.h"
#include "tensorise.h"

namespace weft {
namespace {

UOp stage_of(const Staged& staged, Space space) {
  std::vector<UOp> src{staged.value};
  src.insert(src.end(), staged.ranges.begin(), staged.ranges.end());
  return make(Op::Stage, src, {}, StageArg{fresh_id(), space, {}});
}

UOp read_from(const UOp& memory, const Staged& staged) {
  std::vector<UOp> src{memory, staged.valid};
  src.insert(src.end(), staged.at.begin(), staged.at.end());
  std::vector<UOp> read{make(Op::Index, src)};
  if (!staged.otherwise.is_null()) read.push_back(staged.otherwise);
  return make(Op::Load, read);
}

// Returns a STAGE with one dimension for each loop inside.
Staged staged_by_loops(const Node* load, const std::vector<const Node*>& inside) {
  const LoopCopies own(inside);
  return {own.copy_of(UOp(load)), own.loops, const_bool(true), list_of(inside)};
}

// A constant STAGE is filled once for all runs of the kernel, so its contents must not differ
// between them.
void check_constant(const Action& action, const Node* load) {
  const Node* storage = storage_of(load->src(0)->src(0));
  if (storage->arg<ParamArg>().access != Access::Constant)
    refuse(action, "it may be written between runs of the kernel, so it is not a constant");
  if (!action.at.empty() || action.by_region || action.count > 1)
    refuse(action,
           "a constant is prepacked for the whole kernel, without 'at', 'region' or pipeline");
  if (!is_same_in_each_run(load->src(0)))
    refuse(action, "its indices are read from memory, or change with a variable");
}

bool is_widened(const Node* factor) {
  const Node* value = factor->op() == Op::Cast ? factor->src(0) : nullptr;
  return value != nullptr && converted_read(value) != nullptr && factor->dtype().is_int();
}

// Returns the factor of a summed product that is computed from the read. If that only widens a
// converted read, which an instruction takes in its narrower type, returns the converted read.
const Node* factor_with(const Action& action, const Node* kernel, const Node* load) {
  for (const Node* sum : toposort(kernel)) {
    if (sum->op() != Op::Reduce || sum->src(0)->op() != Op::Mul) continue;
    for (const Node* factor : sum->src(0)->src())
      if (factor->op() != Op::Load && depends_on(factor, load))
        return is_widened(factor) ? factor->src(0) : factor;
  }
  refuse(action, "no factor of a sum of products is computed from it");
}

}  // namespace

bool is_same_in_each_run(const Node* place) {
  return std::ranges::none_of(toposort(place), [](const Node* node) {
    return OpSet{Op::Load, Op::Variable}.contains(node->op());
  });
}

const Node* read_named(const Action& action, const std::vector<NamedRead>& reads) {
  std::string known;
  for (const auto& [name, load] : reads) {
    if (name == action.name) return load;
    known += " " + name;
  }
  refuse(action, "the kernel reads no such value; it reads" + known);
}

void KernelLoops::stage(const Action& action) {
  if (loops_.contains(action.name))
    stage_value(action);
  else
    stages_.push_back(action);
}

void KernelLoops::stage_all() {
  const std::vector<NamedRead> before = reads();
  std::map<std::string, UOp> staged;
  for (const Action& action : stages_) {
    if (action.decoded) continue;
    const Node* load = read_named(action, before);
    const UOp by = stage_read(action, load);
    replace(load, by);
    staged[action.name] = by;
  }
  const auto read = [&](const Action& action) {
    const auto found = staged.find(action.name);
    return found == staged.end() ? UOp(read_named(action, before)) : found->second;
  };
  Schedule stored;  // prefetches of outputs
  for (const Action& action : prefetched_) {
    if (stored_as(action.name) != nullptr) {
      stored.push_back(action);
      continue;
    }
    const UOp load = read(action);
    replace(load.node(), prefetch_before_read(action, load.node()));
  }
  for (const Action& action : stages_) {
    if (!action.decoded) continue;
    const Node* factor = factor_with(action, kernel_.node(), read(action).node());
    replace(factor, stage_read(action, factor));
  }
  for (const Action& action : stored) prefetch_stores(action);
  join_barriers();
}

// Returns the loops for all of whose iterations the value is kept, outermost first. Each worker has
// memory of its own, so parallel loops are excluded from all but constant memory and, for the items
// of a work-group, shared memory. Items run concurrently, so their loops count wherever `at` is.
std::vector<const Node*> KernelLoops::inside_of(const Action& action, const Node* load) const {
  const Node* around = action.at.empty() ? nullptr : loop(action.at);
  return loops_where([&](const Node* range) {
    const LoopKind kind = kind_of(range);
    if (!changes_with(load, range)) return false;
    if (action.space == Space::Constant) return true;
    if (is_parallel(kind)) return action.space == Space::Shared && kind == LoopKind::Local;
    return around == nullptr || comes_before(around, range);
  });
}

UOp KernelLoops::stage_read(const Action& action, const Node* load) {
  if (!depends_on(kernel_.node(), load))
    refuse(action, "it is part of another value that is staged");
  if (action.space == Space::Constant) check_constant(action, load);
  std::vector<const Node*> inside = inside_of(action, load);
  for (const Node* range : load->ranges())
    if (!has_node(inside, range) && action.at.empty() && !is_parallel(kind_of(range)))
      refuse(action, "it depends on a loop that has no name");
  if (inside.empty()) refuse(action, "nothing inside reads it more than once");
  if (action.by_region && !action.loops.empty())
    refuse(action, "a region has the layout of its parameter, so 'as' does not apply");
  if (!action.loops.empty()) {
    std::vector<const Node*> named;
    for (const std::string& name : action.loops) named.push_back(loop(name));
    if (!std::ranges::is_permutation(named, inside))
      refuse(action, "'as' does not list each inner loop that it depends on exactly once");
    inside = named;
  }
  check_sizes(action, inside);
  const Staged staged =
      action.by_region ? staged_by_region(action, load, inside) : staged_by_loops(load, inside);
  if (action.slides || action.count > 1) {
    const Staged carry = rotating_buffer(action, staged);
    return read_from(carry.value, carry);
  }
  if (action.space != Space::Shared) return read_from(stage_of(staged, action.space), staged);
  const SharedMemory memory(staged.ranges, load->dtype(),
                            iterations_around(staged.value, staged.ranges));
  const UOp filling =
      filled_by_items(action, memory.begin(), {staged.value, staged.ranges, staged.ranges});
  return read_from(memory.after(filling), staged);
}

// All items of the group fill shared memory together; each worker fills other memory for itself.
UOp KernelLoops::filled(const Action& action, const UOp& begin, const Fill& fill) const {
  if (action.space == Space::Shared) return filled_by_items(action, begin, fill);
  return with_list(Op::End, store_at(place_in(begin, fill.at), fill.value), fill.ranges);
}

void KernelLoops::pipeline(const Action& action) {
  const auto staged = std::ranges::find_if(stages_, [&](const Action& stage) {
    return stage.name == action.name && (stage.decoded || stage.space != Space::Constant);
  });
  if (staged == stages_.end()) refuse(action, "it is not staged");
  if (staged->slides) refuse(action, "a sliding stage cannot be pipelined");
  if (action.count < 2) refuse(action, "a pipeline has at least 2 iterations in flight");
  staged->count = action.count;
}

}  // namespace weft
