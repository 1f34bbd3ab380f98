// How long programs take, one beside the other.
#pragma once

#include <memory>
#include <vector>

#include <weft/dev/device/buffer.h>
#include <weft/dev/ir/uop.h>

#include "programs.h"
#include "trial_run.h"

namespace weft {

// Buffers of a kernel's own, of the sizes of its params and all zero.
class Scratch {
 public:
  Scratch(const UOp& kernel, Device& device);

  // Seconds of `repeats` runs of a program.
  double time(LoadedKernel& loaded, std::int64_t repeats);

 private:
  std::vector<std::shared_ptr<Buffer>> buffers_;
  std::vector<std::int64_t> values_;  // of the kernel's variables: the largest, for the buffers fit
};

// A program, and the seconds that its runs took.
class Timed {
 public:
  Timed(std::shared_ptr<LoadedKernel> loaded, Scratch& scratch)
      : loaded_(std::move(loaded)), scratch_(&scratch) {}

  // A run in a child.
  TrialEnd trial(double seconds) const;
  void first();  // warms up, and finds how many runs a sample needs
  void sample();
  double fastest() const;
  double median() const;  // 0 without any
  void forget() { samples_.clear(); }

 private:
  std::shared_ptr<LoadedKernel> loaded_;
  Scratch* scratch_;
  std::int64_t repeats_ = 1;
  std::vector<double> samples_;
};

}  // namespace weft
