// Where in a kernel's loops a point is computed: what its place costs follows from that.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "iteration_domain.h"

namespace weft {

// So many neighbours may use what a sum reads or computes once: more do not stand in registers.
inline constexpr double most_reuse = 8;

// A loop of a kernel. Loops that a merge has made one are equal by same().
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

// A dimension of a value at one place: the loop that is its index; or how many of the loops around
// its index changes with, where that is an expression.
struct Bound {
  const Loop* loop = nullptr;
  std::size_t depth = 0;
  const Node* index = nullptr;          // the expression
  std::vector<const Loop*> loops = {};  // that it changes with

  bool changes_with(const Loop* other) const;
};

// One place where a point is computed.
struct ComputeSite {
  std::size_t kernel = 0;
  std::vector<const Loop*> nest;  // the loops around it, outermost first
  std::vector<Bound> dims;
  std::map<const Node*, const Loop*> inner;  // its own reduce loops, once something asked for them
  // How many of the loops are around the stage that it is part of.
  std::optional<std::size_t> outside = {};
  std::optional<Op> summed = {};  // by a reduction of nothing else

  double runs() const { return runs(nest.size()); }
  // Of the loops that workers share: none inside of a stage.
  double shared_runs() const { return runs(std::min(outside.value_or(nest.size()), nest.size())); }
  double runs(std::size_t depth) const;  // of the loops down to a depth
  // Of the body, here: how many, or what they take.
  double operations(const IterationDomain& body, double Operations::* of) const;
  // How many neighbours share what is decoded and changes with these dimensions alone: inside of a sum, iterations of other
  // loops around.
  double neighbours(const std::vector<std::size_t>& own) const;
  // Whether some index is more than sums of multiples of loops: no lanes of it lie beside each other.
  bool is_scattered() const;
};

bool are_same_place(const ComputeSite& a, const ComputeSite& b);

class ComputeSites {
 public:
  // Of a point in memory: the kernel's outermost.
  ComputeSite root(const IterationDomain& body, std::size_t kernel);
  // The loops of another that becomes an output of the same kernel become the same, and so do those
  // of their only reductions, where these have equal iterations.
  void merge(ComputeSite& root, const IterationDomain& body, ComputeSite& into,
             const IterationDomain& into_body);
  // Where something that is read in the body of `reader` would be computed for that access.
  ComputeSite read(ComputeSite& reader, const IterationDomain& body, const ReadAccess& access);
  // The loops shared by all sites that are an index of every one of them, along one dimension:
  // as many as can stand around one computation for all.
  static std::size_t common_depth(const std::vector<ComputeSite>& sites);
  // Computed once for all of them inside those loops, over whole dimensions.
  ComputeSite stage(const std::vector<ComputeSite>& sites, std::size_t depth,
                    const IterationDomain& body);

 private:
  const Loop* inner_loop(ComputeSite& site, const Node* range);
  const Loop* new_loop(double iterations, bool reduces = false) {
    return &loops_.emplace_back(Loop{iterations, reduces});
  }

  std::deque<Loop> loops_;
};

}  // namespace weft
