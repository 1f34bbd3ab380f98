// The tensor partition point in pieces at every value that might get memory of its own.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include <weft/dev/cost/profile.h>
#include <weft/dev/schedule/plan.h>
#include <weft/dev/schedule/region.h>

namespace weft {

struct StepLoop;  // step_loop.h

// A piece: a value, and the BUFFER that stands for it wherever it is used. Whether it gets memory is
// open, unless it must.
struct PartitionPoint {
  UOp placeholder = {};
  UOp value = {};  // over the placeholders of other points and the program's own BUFFERs
  bool must = false;
  bool is_copy = false;  // the value is a region of memory on another device
  Symbol device = {};
  std::optional<Origin> origin = {};  // of the value
  // An assignment: the placeholder is what `before` becomes when the value is stored at `place`, a view of
  // it or an INDEX into it.
  UOp before = {}, place = {};
  StoreArg store = {};
  std::vector<UOp> waits = {};  // placeholders of others that are to be there before
  std::size_t assignment = 0;   // its number among them
  // An assignment that steps make: the value is the list of what these are given. One kernel makes all of a loop's.
  std::shared_ptr<const StepLoop> loop = {};
  std::vector<bool> follows = {};  // which assignments it is made of, itself among them
};

// The BUFFERs that values are made of; of a point, its value and its place.
std::vector<const Node*> placeholders_of(const std::vector<const Node*>& values);
std::vector<const Node*> placeholders_of(const PartitionPoint& point);

// Whether the value is none that a kernel with others could compute.
inline bool is_by_itself(const PartitionPoint& point) {
  return point.is_copy || point.loop != nullptr;
}

// What a copy copies.
Region copied_from(const PartitionPoint& copy);

// Of memory that the point asks for, if it gets any: none where that was there before.
std::size_t new_bytes(const PartitionPoint& point);
// Symbolic sizes count at their most.
double elements(NodeList dims);

struct Partition {
  std::vector<PartitionPoint> points;  // each after those that it uses
  std::vector<UOp> roots;              // where each root is: a view of a placeholder
  std::unordered_map<std::uint64_t, std::size_t> by_id;  // of the placeholder

  // The number of the point that the BUFFER stands for; nothing where it is the program's own.
  std::optional<std::size_t> point_of(const Node* placeholder) const;

  // Whether the program holds this memory: itself, or what an assignment to it placeholders there.
  bool is_programs(UOp memory) const;

  // By the id of the placeholder: the assignment that overwrites it.
  std::unordered_map<std::uint64_t, std::size_t> overwriting;
  std::optional<std::size_t> overwritten_by(const Node* placeholder) const;
};

// Whether the memory of each point is there after the run.
std::vector<bool> outliving(const Partition& partition);

// Says which point follows which assignment. One that is made of an assignment and of what it
// overwrites gets a copy of the latter, and so does a root that an assignment overwrites, and one of two assignments that
// read what the other overwrites.
void add_write_after_read_copies(Partition& partition);

Partition point(const std::vector<Root>& roots, const Profile& profile);

}  // namespace weft
