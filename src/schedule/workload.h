// What a kernel does, as far as cuts have been given to it.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "nests.h"

namespace weft {

// A sum among a kernel's loops.
struct Summed {
  const Body* body;
  Instance place;
  std::vector<double> trips = {};      // of its own loops
  std::set<const Node*> sources = {};  // leaves that it reads
  double effort = 0, longest = 0;
  double times = 1;         // how many times as long it takes as it would alone
  double times_beside = 1;  // and would take beside another at least
  double far = 0;           // effort besides, for what it reads again
  bool is_output = false;   // in the loops of the kernel's outputs
};

struct Workload {
  std::vector<std::size_t> outputs;      // cuts in memory
  std::map<const Node*, double> inputs;  // leaves, with the bytes read of each
  double output_bytes = 0;
  double flops = 0;
  double effort = 0;              // what these take: as long as so many of a product's
  double longest = 0;             // effort of the worker that does most
  std::vector<const Loop*> root;  // the loops of its outputs
  std::vector<Summed> sums;
  double flops_apart = 0;       // if every cut had a kernel of its own
  double scratch = 0;           // bytes
  std::int64_t size = 0;        // nodes
  int scans = 0;                // that the kernel's loops carry
  int merged = 1;               // kernels that run together, each with outputs
  std::vector<bool> follows;    // which assignments it comes after
  std::set<const Node*> waits;  // leaves that are to be there before, besides the inputs

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

  double time(const Workload& kernel) const;
  double computing(const Workload& kernel) const;  // of which memory may hide as much as it takes
  bool is_allowed(const Workload& kernel) const;

 private:
  double shared(double runs) const;
  void add_work(Workload& kernel, const Body& body, const Instance& place) const;
  void read_again(Workload& kernel, Summed& sum, std::size_t outside) const;
  void add_inputs(Workload& kernel, const Body& body) const;
  static void add_waits(Workload& kernel, const Cut& cut);

  const CutGraph& graph_;
  const std::vector<Body>& bodies_;
  const Profile& profile_;
};

}  // namespace weft
