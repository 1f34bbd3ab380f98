// Searches for the best schedules of one nest by the cost model.
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
  double scratch;  // bytes
  double seconds;
};

// Returns up to `most` distinct schedules, fastest first.
std::vector<Chosen> best_of(const KernelNest& nest, const Target& target, std::size_t most);

// Remembers the best schedule of each nest: nests that differ only in names, such as those of equal
// layers, are searched once.
class NestChoices {
 public:
  Chosen best(const KernelNest& nest, const Target& target);

 private:
  struct Known {
    KernelNest nest;
    std::size_t scratch_bytes;  // available to the search
    Chosen chosen;
  };
  const Known* find(const KernelNest& nest, std::size_t scratch_bytes) const;

  std::vector<Known> known_;
};

}  // namespace weft
