// What a kernel does, as far as cuts have been given to it.
#pragma once

#include <map>
#include <vector>

#include "nests.h"

namespace weft {

struct Workload {
  std::vector<std::size_t> outputs;      // cuts in memory
  std::map<const Node*, double> inputs;  // leaves, with the bytes read of each
  double output_bytes = 0;
  double flops = 0;
  double longest = 0;         // flops of the worker that does most
  double flops_apart = 0;     // if every cut had a kernel of its own
  double scratch = 0;         // bytes
  std::int64_t size = 0;      // nodes
  int scans = 0;              // that the kernel's loops carry
  std::vector<bool> follows;  // which assignments it comes after

  Work work() const;
};

class Estimator {
 public:
  Estimator(const CutGraph& graph, const std::vector<Body>& bodies, const Profile& profile)
      : graph_(graph), bodies_(bodies), profile_(profile) {}

  // A kernel for the cut alone.
  Workload alone(std::size_t cut, const Instance& root) const;
  // Computes the cut as well, at these places.
  void add_inline(Workload& kernel, std::size_t cut, const std::vector<Instance>& places) const;
  // Computes it once for every trip of the first `depth` loops around, into scratch memory.
  void add_stage(Workload& kernel, std::size_t cut, const Instance& stage, std::size_t depth) const;
  static void merge(Workload& kernel, const Workload& other);

  double time(const Workload& kernel) const { return seconds(profile_, kernel.work()); }
  bool is_allowed(const Workload& kernel) const;

 private:
  double shared(double runs) const;
  void add_inputs(Workload& kernel, const Body& body) const;

  const CutGraph& graph_;
  const std::vector<Body>& bodies_;
  const Profile& profile_;
};

}  // namespace weft
