// The iteration domain of each partition point: the loops over its elements, its accesses to buffer
// placeholders, and the number of its operations.
#pragma once

#include <optional>
#include <vector>

#include "partition.h"

namespace weft {

// A read of a buffer placeholder within an iteration domain.
struct ReadAccess {
  const Node* index;               // the INDEX
  std::vector<std::size_t> own;    // positions of the domain's loops that it depends on
  std::vector<std::size_t> used;   // those of them that occur in its indices
  std::vector<const Node*> inner;  // the reduce ranges around it, outermost first
  std::optional<Op> summed = {};   // the reduction that reduces exactly this value
};

// The operations on data that depend on the same loops of the domain, per iteration of these loops.
struct Operations {
  std::vector<std::size_t> own;  // positions of the loops
  double count = 0;
  double effort = 0;  // the same, weighted by how long each operation takes
};

// A scan (rules/scan.h) whose operations are counted as if a loop carried it.
struct CarriedScan {
  std::size_t own;  // position of the domain's loop that carries it
  bool rises;
  double iterations;  // factor of the operations if no loop carries it
  double before;      // terms that come before those of the loop
};

struct IterationDomain {
  std::vector<UOp> loops;  // one per dimension of the value; 0 where the size is 1
  UOp value;               // the element in one iteration
  UOp place;               // the INDEX that an assignment stores to; null for others
  // The ranges of the outermost reduction; empty if there are several or none.
  std::vector<const Node*> reduction;
  std::vector<ReadAccess> accesses;
  std::vector<Operations> operations;
  std::vector<CarriedScan> carried_scans;
  int size = 0;  // nodes, an estimate of the code generation effort

  // Returns whether it dequantises bytes: it computes floats from one-byte integers.
  bool decodes() const;
};

// Returns the iteration domain of each point. Those of points that `other` also has are taken from
// `known`.
std::vector<IterationDomain> domains(const Partition& partition, const Partition& other = {},
                                     const std::vector<IterationDomain>& known = {});

// Returns whether the node converts a value as it is loaded. This does not count as an operation.
bool is_converted_read(const Node* node);

// Returns the trip count of a range; the largest one if it is symbolic.
double iterations(const Node* range);
// Returns the product of the trip counts of the ranges among these loops.
double trip_count(NodeList loops);

// Returns a loop over each dimension.
std::vector<UOp> loops_over(NodeList dims);
// Returns the element of the tensor in one iteration; a scalar has the same one in all of them.
UOp element_in(const UOp& tensor, const std::vector<UOp>& loops);
// Returns the LOAD of the element that the point is stored to.
UOp target_in(const PartitionPoint& point, const std::vector<UOp>& loops);

}  // namespace weft
