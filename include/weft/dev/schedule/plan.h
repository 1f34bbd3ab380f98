// Plans tensors: which kernels run, in which order, on which memory. Nothing is executed here.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <weft/dev/cost/work.h>
#include <weft/dev/device/target.h>
#include <weft/dev/ir/uop.h>

namespace weft {

// A tensor that is requested in memory.
struct Root {
  UOp tensor;
  Symbol device;  // used if no source of the tensor determines one
};

// A BUFFER of the tensor graph that a plan allocates or is given.
struct Slot {
  UOp buffer;
  // The position of the program's own buffer among the BUFFERs of the roots' graph, in the order of
  // toposort(). Empty for a buffer of the plan, which is new in each run.
  std::optional<std::size_t> input = {};
};

struct Step {
  UOp kernel;  // a SINK over PARAMs; null for a copy from slots[1] to slots[0]
  Symbol device;
  std::vector<std::uint32_t> slots;  // by the PARAMs of the kernel
  std::size_t offset = 0;            // of a copy: the byte offset in slots[1]
  Work work;
  bool is_once = false;  // slots[0] is computed once for each constant slots[1]
  // The values of the kernel's variables that are not the plan's, in the order of its signature.
  std::vector<std::int64_t> values = {};
  std::vector<Origin> origins = {};  // of the values that it stores; some may have none
};

// The layout of a buffer between kernels of the plan, if it differs from that of the graph.
struct BufferLayout {
  Symbol kernel;                    // the first that writes the buffer
  std::vector<std::int64_t> sizes;  // of the dimensions, in the order of the graph
  std::vector<int> order;           // the dimensions in memory, outermost first
  double seconds, seconds_as_made;  // modelled, of its kernels: in this and the graph's layout
};

struct Plan {
  // Owns every node that the plan names.
  std::unique_ptr<Arena> arena;
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<UOp> roots;             // each a view of a slot's buffer, or a MULTI of views
  std::vector<UOp> variables;         // of the roots' graph, in the order of toposort()
  std::vector<BufferLayout> layouts;  // of the buffers that have another one than in the graph
};

// Returns pointers to all UOps of the plan, also to those that are null.
template <class MaybeConstPlan>
auto names_of(MaybeConstPlan& plan) {
  std::vector<decltype(&plan.roots[0])> names;
  for (auto& slot : plan.slots) names.push_back(&slot.buffer);
  for (auto& step : plan.steps) names.push_back(&step.kernel);
  for (auto& root : plan.roots) names.push_back(&root);
  for (auto& variable : plan.variables) names.push_back(&variable);
  return names;
}

struct KernelOnDevice {
  UOp kernel;
  Symbol device;
};

// The modelled time of a kernel on a device, or nothing if it is unknown.
class KernelSeconds {
 public:
  using OfOne = std::function<std::optional<double>(const UOp& kernel, Symbol device)>;
  using OfAll = std::function<void(std::span<const KernelOnDevice>)>;

  KernelSeconds() = default;
  template <std::convertible_to<OfOne> F>
  KernelSeconds(F one, OfAll all = {})  // NOLINT: a function is one
      : one_(std::move(one)), all_(std::move(all)) {}

  explicit operator bool() const { return static_cast<bool>(one_); }
  std::optional<double> operator()(const UOp& kernel, Symbol device) const {
    return one_(kernel, device);
  }
  // Finds the times of all of these at once, for later calls.
  void find(std::span<const KernelOnDevice> kernels) const {
    if (all_) all_(kernels);
  }

 private:
  OfOne one_;
  OfAll all_;
};

// The tensors must be in the current interner, which must be an arena.
Plan make_plan(const std::vector<Root>& roots, const Target& target,
               const KernelSeconds& seconds = {});

}  // namespace weft
