// How a kernel accesses the slots of its plan, and how it looks with other layouts of these.
#pragma once

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "plan_steps.h"

namespace weft {

constexpr int as_made = -1;  // no dimension is moved to the end

// Moves one element of the list to its end.
template <class T>
std::vector<T> with_last(std::vector<T> list, int last) {
  if (last == as_made) return list;
  const auto at = list.begin() + last;
  std::rotate(at, at + 1, list.end());
  return list;
}

using SlotDimension = std::pair<std::uint32_t, int>;

class KernelSlots {
 public:
  // The step must outlive this; `number` is its place in the plan.
  KernelSlots(const Step& step, std::size_t number);

  std::size_t number() const { return number_; }
  const UOp& kernel() const { return kernel_; }
  const std::vector<std::uint32_t>& slots() const { return step_->slots; }
  bool writes_to(std::uint32_t of) const;

  // Slots that are not accessed by INDEX alone.
  const std::set<std::uint32_t>& touched_otherwise() const { return touched_otherwise_; }
  // Dimensions that products are summed along.
  const std::set<SlotDimension>& summed() const { return summed_; }
  // The last dimension of each slot that the kernel writes.
  std::set<SlotDimension> stored_along() const;
  // Dimensions of other slots that are indexed by the same loop.
  std::set<SlotDimension> beside(const SlotDimension& place) const;

  // Returns the kernel for layouts where dimension last[slot] is contiguous.
  UOp ordered(const std::vector<int>& last) const;

 private:
  std::uint32_t slot(const Node* param) const { return slot_of(*step_, param); }
  void note_products(const Node* sum);
  const Node* rebuilt(const Node* node, std::vector<const Node*> src,
                      const std::vector<int>& last) const;

  std::size_t number_;
  const Step* step_;
  UOp kernel_;
  std::vector<const Node*> indices_;
  std::set<std::uint32_t> touched_otherwise_;
  std::set<SlotDimension> summed_;
};

}  // namespace weft
