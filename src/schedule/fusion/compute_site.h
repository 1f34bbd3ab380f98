// Compute sites: where in a kernel's loop nest a partition point is computed. The cost of a point
// follows from its site.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "iteration_domain.h"

namespace weft {

// The most neighbouring iterations that share a value which a sum reads or computes once. More
// would not fit in registers.
inline constexpr double most_reuse = 8;

// A loop of a kernel. Loops that were unified when kernels merged have equal same().
struct Loop {
  double iterations;
  bool reduces = false;
  mutable const Loop* merged = nullptr;
  const Loop* same() const {
    const Loop* loop = this;
    while (loop->merged != nullptr) loop = loop->merged;
    return loop;
  }
};

using LoopList = std::span<const Loop* const>;
bool are_same_loops(LoopList a, LoopList b);
bool is_among(const Loop* loop, LoopList loops);

// How a dimension of a value is indexed at one site: by a loop, or by an expression over the loops
// of the nest. The index depends only on the `depth` outermost loops.
struct DimIndex {
  const Loop* loop = nullptr;
  std::size_t depth = 0;
  const Node* index = nullptr;          // the expression
  std::vector<const Loop*> loops = {};  // that it depends on

  bool changes_with(const Loop* other) const {
    return loop != nullptr ? loop->same() == other->same() : is_among(other, loops);
  }
};

struct ComputeSite {
  std::size_t kernel = 0;
  std::vector<const Loop*> nest;  // outermost first
  std::vector<DimIndex> dims;
  std::map<const Node*, const Loop*> inner;  // its own reduce loops, created on demand
  // If the site is inside a stage: the number of loops around the stage.
  std::optional<std::size_t> outside = {};
  std::optional<Op> summed = {};  // the reduction that reduces exactly this value
  double repeats = 1;             // how many terms of scans that read the value an iteration adds

  // Returns the `depth` outermost loops.
  LoopList outermost(std::size_t depth) const { return LoopList(nest).first(depth); }
  // Returns the loop that indexes the dimension, or a slice of it; null if there is none.
  const Loop* loop_along(std::size_t dim) const;
  // Returns how many of the outermost loops the indices of these dimensions depend on.
  std::size_t depth_of(const std::vector<std::size_t>& own) const;
  double trip_count() const { return trip_count(nest.size()); }
  // Returns the iterations that workers can share: those of the loops around the stage, if any.
  double shared_trip_count() const {
    return trip_count(std::min(outside.value_or(nest.size()), nest.size()));
  }
  double trip_count(std::size_t depth) const;  // of the `depth` outermost loops
  // Returns the sum of the given field over all operations of the domain and all iterations.
  double operations(const IterationDomain& body, double Operations::* of) const;
  // Returns how many neighbouring iterations share an operation on dequantised values that depends
  // only on the dimensions `own`: within a reduction, the iterations of enclosing loops that it
  // does not depend on, elsewhere 1.
  double neighbours(const std::vector<std::size_t>& own) const;
  // Returns whether some index contains a division, a modulo or a load. Vector lanes are then not
  // adjacent in memory.
  bool is_scattered() const;
};

bool are_same_site(const ComputeSite& a, const ComputeSite& b);

class ComputeSites {
 public:
  // Returns the site of a materialised point, with new loops at the root of the kernel's nest.
  ComputeSite root(const IterationDomain& body, std::size_t kernel);
  // Unifies the loops of the root site of one output with those of another output of the same
  // kernel. The loops of their only reductions are unified as well if they have equal trip counts.
  void merge(ComputeSite& root, const IterationDomain& body, ComputeSite& into,
             const IterationDomain& into_body);
  // Returns the site of the value that an access in the domain of `reader` reads.
  ComputeSite read(ComputeSite& reader, const IterationDomain& body, const ReadAccess& access);
  // Returns how many outermost loops all sites share as the index of the same dimension. One
  // computation inside these loops can serve all sites.
  static std::size_t common_depth(const std::vector<ComputeSite>& sites);
  // Returns the site of a stage that all sites read: inside `depth` common loops, over the whole of
  // the remaining dimensions.
  ComputeSite stage(const std::vector<ComputeSite>& sites, std::size_t depth,
                    const IterationDomain& body);

 private:
  // Adds a dimension with a new loop; one of size 1 needs none.
  void add_dimension(ComputeSite& site, const UOp& loop);
  const Loop* inner_loop(ComputeSite& site, const Node* range);
  const Loop* new_loop(double iterations, bool reduces = false) {
    return &loops_.emplace_back(Loop{iterations, reduces});
  }

  std::deque<Loop> loops_;
};

}  // namespace weft
