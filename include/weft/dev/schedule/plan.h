// From tensors to a plan: which kernels run, in which order, on which memory. Nothing runs here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <weft/dev/cost/profile.h>
#include <weft/dev/ir/uop.h>

namespace weft {

// A tensor that is wanted in memory.
struct Root {
  UOp tensor;
  Symbol device;  // where nothing that it is made of says which
};

// Memory that a plan needs or is given: a BUFFER of the tensor graph.
struct Slot {
  UOp buffer;
  // Of the program's own: its place among the BUFFERs of the roots' graph, as toposort() meets them.
  // Others are the plan's, new for each run.
  std::optional<std::size_t> input = {};
};

struct Step {
  UOp kernel;  // a SINK over PARAMs; null for a copy from slots[1], which fills slots[0]
  Symbol device;
  std::vector<std::uint32_t> slots;  // by the PARAMs of the kernel
  std::size_t offset = 0;            // of a copy: the bytes of slots[1] before what is copied
  Work work;
  bool is_once = false;  // what it makes of constants, slots[0], is made once for these
  // The values of the kernel's variables that the plan does not have, in the order of its signature.
  std::vector<std::int64_t> values = {};
  std::vector<Origin> origins = {};  // of the values that it stores, of which some may have none
};

// The order of the dimensions of memory that nobody but the plan's own kernels looks at.
struct BufferLayout {
  Symbol kernel;                    // that writes it
  std::vector<std::int64_t> sizes;  // of the dimensions that the graph has
  std::vector<int> order;           // of these, outermost first
  double seconds, seconds_as_made;  // of the kernels that touch it, by the model
};

struct Plan {
  // Holds every node that the plan names.
  std::unique_ptr<Arena> arena;
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<UOp> roots;             // each as a view of a slot's buffer, or a MULTI of such
  std::vector<UOp> variables;         // of the roots' graph, as toposort() meets them
  std::vector<BufferLayout> layouts;  // that are not as the graph has them
};

// Where a plan names a node, or none.
template <class MaybeConstPlan>
auto names_of(MaybeConstPlan& plan) {
  std::vector<decltype(&plan.roots[0])> names;
  for (auto& slot : plan.slots) names.push_back(&slot.buffer);
  for (auto& step : plan.steps) names.push_back(&step.kernel);
  for (auto& root : plan.roots) names.push_back(&root);
  for (auto& variable : plan.variables) names.push_back(&variable);
  return names;
}

// What a kernel is expected to take on a device; nothing where nobody knows.
using KernelSeconds = std::function<std::optional<double>(const UOp& kernel, Symbol device)>;

// The tensors live in the current interner, an arena.
Plan make_plan(const std::vector<Root>& roots, const Profile& profile,
               const KernelSeconds& seconds = {});

}  // namespace weft
