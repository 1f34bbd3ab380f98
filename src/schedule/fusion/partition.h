// Partitions the tensor graph at every value that may be materialised in a buffer.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <weft/dev/cost/work.h>
#include <weft/dev/device/target.h>
#include <weft/dev/schedule/plan.h>
#include <weft/dev/schedule/region.h>

namespace weft {

struct StepLoop;  // loops/step_loop.h

// A value that may be materialised, and the buffer placeholder that stands for it wherever it is
// used. Fusion decides whether it is materialised, unless `must_materialise` is set.
struct PartitionPoint {
  UOp placeholder = {};
  UOp value = {};  // over placeholders of other points and the program's own BUFFERs
  bool must_materialise = false;
  bool is_copy = false;  // the value is a region of memory on another device
  Symbol device = {};
  std::optional<Origin> origin = {};  // of the value
  // For an assignment: `before` is the previous version of the memory. The value is stored at
  // `place`, a view of `before` or an INDEX into it.
  UOp before = {}, place = {};
  StoreArg store = {};
  std::vector<UOp> waits = {};  // placeholders of points that must be computed before
  std::size_t assignment = 0;   // its number among the assignments
  // For an assignment by a step loop: the value is the TUPLE of the loop's inputs. One kernel
  // computes all assignments of a loop.
  std::shared_ptr<const StepLoop> loop = {};
  std::vector<bool> follows = {};  // by assignment: whether the point runs after it or is it
};

// Returns the BUFFERs that values depend on; for a point, its value and its place.
std::vector<const Node*> placeholders_of(const std::vector<const Node*>& values);
std::vector<const Node*> placeholders_of(const PartitionPoint& point);

// Returns the memory that the point is stored to: its own, or the place of an assignment.
inline const UOp& target_of(const PartitionPoint& point) {
  return point.place.is_null() ? point.placeholder : point.place;
}

// Returns whether the point cannot share a kernel with other values.
inline bool needs_own_kernel(const PartitionPoint& point) {
  return point.is_copy || point.loop != nullptr;
}

// Returns the region of memory that a copy reads.
Region copied_from(const PartitionPoint& copy);

// Returns the bytes to allocate if the point is materialised. An assignment takes existing memory
// and needs 0.
std::size_t new_bytes(const PartitionPoint& point);
// Returns the number of elements; the largest one if sizes are symbolic.
double elements(NodeList dims);

struct Partition {
  std::vector<PartitionPoint> points;  // each after those that it uses
  std::vector<UOp> roots;              // each a view of a placeholder or of a program's BUFFER
  std::unordered_map<std::uint64_t, std::size_t> by_id;  // by the id of the placeholder

  // Returns the point that the BUFFER is the placeholder of; nothing for the program's own.
  std::optional<std::size_t> point_of(const Node* placeholder) const;

  // Returns whether this is memory of the program, possibly with assignments to it.
  bool is_program_memory(UOp memory) const;
  // Returns for each point the placeholder or BUFFER of its memory: the version before all assignments.
  std::vector<const Node*> first_versions() const;

  // By the id of a placeholder: the assignment that overwrites it.
  std::unordered_map<std::uint64_t, std::size_t> overwriting;
  std::optional<std::size_t> overwritten_by(const Node* placeholder) const;
};

// Returns for each point whether its memory outlives the run.
std::vector<bool> outlives_run(const Partition& partition);

// Finds which assignments each point follows, those that have to wait for readers of what they
// overwrite included, and inserts copies of memory that is overwritten
// before its last read: for a point that depends on an assignment and on what it overwrites, for a
// root that an assignment overwrites, and for one of two assignments that each read what the other
// overwrites.
void add_write_after_read_copies(Partition& partition);

Partition partition_graph(const std::vector<Root>& roots, const Target& target);

}  // namespace weft
