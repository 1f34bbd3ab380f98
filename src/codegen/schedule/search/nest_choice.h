// The best schedules of one nest by the model.
#pragma once

#include <cstddef>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>

#include "nest_of.h"
#include "option.h"

namespace weft {

struct Chosen {
  Option option;
  Schedule schedule;
  double scratch;  // bytes that it takes
  double seconds;
};

// Up to `most` that differ, the fastest first.
std::vector<Chosen> best_of(const KernelNest& nest, const Target& target, std::size_t most);

// The best of each nest of a kernel: nests that differ in names alone, as those of equal layers do, are searched once.
class NestChoices {
 public:
  Chosen best(const KernelNest& nest, const Target& target);

 private:
  struct Known {
    KernelNest nest;
    std::size_t scratch_bytes;  // that there were
    Chosen chosen;
  };
  const Known* find(const KernelNest& nest, std::size_t scratch_bytes) const;

  std::vector<Known> known_;
};

}  // namespace weft
