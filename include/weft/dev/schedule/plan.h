// From tensors to a plan: which kernels run, in which order, on which memory. Nothing runs here.
#pragma once

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
  std::vector<Origin> origins = {};  // of the values that it stores, of which some may have none
};

struct Plan {
  // Holds every node that the plan names.
  std::unique_ptr<Arena> arena;
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<UOp> roots;      // each as a view of a slot's buffer, or a MULTI of such
  std::vector<UOp> variables;  // of the roots' graph, as toposort() meets them
};

// The tensors live in the current interner, an arena.
Plan make_plan(const std::vector<Root>& roots, const Profile& profile);

}  // namespace weft
