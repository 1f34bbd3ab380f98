// The workload of a kernel that is being fused, and the cost model that estimates it.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "compute_site.h"

namespace weft {

// A reduction in a kernel.
struct ReductionCost {
  const IterationDomain* body;
  ComputeSite place;
  std::vector<double> iterations = {};  // of its reduce loops
  std::set<const Node*> sources = {};   // placeholders that it reads
  double effort = 0, critical_effort = 0;
  double times = 1;            // slowdown against running alone
  double slowdown_shared = 1;  // least slowdown beside another reduction
  double far = 0;              // additional effort for reading memory again
  bool is_output = false;      // in the loops of the kernel's outputs
};

struct Workload {
  std::vector<std::size_t> outputs;      // materialised points
  std::map<const Node*, double> inputs;  // bytes read of each placeholder
  double output_bytes = 0;
  double flops = 0;
  double effort = 0;              // the flops, weighted by how long each takes
  double critical_effort = 0;     // effort of the busiest worker
  std::vector<const Loop*> root;  // the loops of its outputs
  std::vector<ReductionCost> sums;
  double flops_apart = 0;             // if every point had a kernel of its own
  double scratch = 0;                 // bytes
  std::int64_t size = 0;              // nodes
  std::vector<const Loop*> scans;     // the loops that carry them
  std::vector<const Loop*> in_order;  // innermost loops of stages that carry scans
  int merged = 1;                     // kernels merged into it, including itself
  std::vector<bool> follows;          // by assignment: whether the kernel runs after it
  std::set<const Node*> waits;  // placeholders besides the inputs that must be computed before

  Work work() const;
};

class Estimator {
 public:
  Estimator(const Partition& partition, const std::vector<IterationDomain>& domains,
            const Target& target);

  // Returns the workload of a kernel that computes only this point.
  Workload alone(std::size_t point, const ComputeSite& root) const;
  // Adds the point, computed inline at these sites.
  void add_inline(Workload& kernel, std::size_t point,
                  const std::vector<ComputeSite>& places) const;
  // Adds the point as a stage in scratch memory, computed once per iteration of the `depth`
  // outermost loops.
  void add_stage(Workload& kernel, std::size_t point, const ComputeSite& stage,
                 std::size_t depth) const;
  static void merge(Workload& kernel, const Workload& other);

  double time(const Workload& kernel) const;
  double computing(const Workload& kernel) const;  // without memory accesses, which may overlap
  // Returns the seconds of a store and a load of each element of the stage.
  double keeping(const ComputeSite& stage) const;
  bool is_allowed(const Workload& kernel) const;

 private:
  double shared(double trip_count) const;
  void add_work(Workload& kernel, const IterationDomain& body, const ComputeSite& place) const;
  void read_again(Workload& kernel, ReductionCost& sum, std::size_t outside) const;
  void add_inputs(Workload& kernel, const IterationDomain& body) const;
  void add_waits(Workload& kernel, std::size_t point) const;
  // Adds what does not depend on where the point is computed.
  void add_point(Workload& kernel, std::size_t point) const;

  const Partition& partition_;
  const std::vector<IterationDomain>& domains_;
  const Target& target_;
  double most_scratch_;  // bytes of all stages of a kernel
};

}  // namespace weft
