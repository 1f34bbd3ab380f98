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
  bool is_once = false;              // what it makes of constants, slots[0], is made once for these
  std::vector<Origin> origins = {};  // of the values that it stores, of which some may have none
};

// The order of the dimensions of memory that nobody but the plan's own kernels looks at.
struct BufferLayout {
  Symbol kernel;                    // that writes it
  std::vector<std::int64_t> sizes;  // of the dimensions that the graph has
  std::vector<int> order;           // of these, outermost first
  double seconds, seconds_as_made;  // of the kernels that touch it, by the model
};

// What the model has chosen for a plan, which takes most of the time to make one.
struct Choices {
  // Steps, each with the number of the STAGE of it that gets memory; such a kernel is one more step.
  std::vector<int> apart = {};
  std::vector<int> last =
      {};  // by slot: the dimension that lies along memory; -1: as the graph has it
  std::vector<int> forms = {};  // by kernel: which other form it takes; -1: none
  // By slot, of the kernels that touch one in another order: with it and as the graph has it.
  std::vector<std::int64_t> nanoseconds = {}, nanoseconds_as_made = {};
};

struct Plan {
  // Holds every node that the plan names.
  std::unique_ptr<Arena> arena;
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<UOp> roots;      // each as a view of a slot's buffer, or a MULTI of such
  std::vector<UOp> variables;  // of the roots' graph, as toposort() meets them
  Choices choices;
  std::vector<BufferLayout> layouts;  // that are not as the graph has them
};

// What a kernel is expected to take on a device; nothing where nobody knows.
using KernelSeconds = std::function<std::optional<double>(const UOp& kernel, Symbol device)>;

// The tensors live in the current interner, an arena. Choices that are known are those of an equal graph.
Plan make_plan(const std::vector<Root>& roots, const Profile& profile,
               const KernelSeconds& seconds = {}, const std::optional<Choices>& known = {});

}  // namespace weft
