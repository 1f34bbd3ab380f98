// What a kernel does, as far as points have been given to it.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "compute_site.h"

namespace weft {

// A sum among a kernel's loops.
struct Summed {
  const IterationDomain* body;
  ComputeSite place;
  std::vector<double> iterations = {};  // of its own loops
  std::set<const Node*> sources = {};   // placeholders that it reads
  double effort = 0, longest = 0;
  double times = 1;         // how many times as long it takes as it would alone
  double times_beside = 1;  // and would take beside another at least
  double far = 0;           // effort besides, for what it reads again
  bool is_output = false;   // in the loops of the kernel's outputs
};

struct Workload {
  std::vector<std::size_t> outputs;      // points in memory
  std::map<const Node*, double> inputs;  // placeholders, with the bytes read of each
  double output_bytes = 0;
  double flops = 0;
  double effort = 0;              // what these take: as long as so many of a product's
  double longest = 0;             // effort of the worker that does most
  std::vector<const Loop*> root;  // the loops of its outputs
  std::vector<Summed> sums;
  double flops_apart = 0;       // if every point had a kernel of its own
  double scratch = 0;           // bytes
  std::int64_t size = 0;        // nodes
  int scans = 0;                // that the kernel's loops carry
  int merged = 1;               // kernels that run together, each with outputs
  std::vector<bool> follows;    // which assignments it comes after
  std::set<const Node*> waits;  // placeholders that are to be there before, besides the inputs

  Work work() const;
};

class Estimator {
 public:
  Estimator(const Partition& partition, const std::vector<IterationDomain>& domains,
            const Profile& profile)
      : partition_(partition), domains_(domains), profile_(profile) {}

  // A kernel for the point alone.
  Workload alone(std::size_t point, const ComputeSite& root) const;
  // Computes the point as well, at these places.
  void add_inline(Workload& kernel, std::size_t point,
                  const std::vector<ComputeSite>& places) const;
  // Computes it once for every iteration of the first `depth` loops around, into scratch memory.
  void add_stage(Workload& kernel, std::size_t point, const ComputeSite& stage,
                 std::size_t depth) const;
  static void merge(Workload& kernel, const Workload& other);

  double time(const Workload& kernel) const;
  double computing(const Workload& kernel) const;  // of which memory may hide as much as it takes
  bool is_allowed(const Workload& kernel) const;

 private:
  double shared(double runs) const;
  void add_work(Workload& kernel, const IterationDomain& body, const ComputeSite& place) const;
  void read_again(Workload& kernel, Summed& sum, std::size_t outside) const;
  void add_inputs(Workload& kernel, const IterationDomain& body) const;
  static void add_waits(Workload& kernel, const PartitionPoint& point);

  const Partition& partition_;
  const std::vector<IterationDomain>& domains_;
  const Profile& profile_;
};

}  // namespace weft
