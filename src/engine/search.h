// BEAM=n: the schedule of a kernel by measuring.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "programs.h"

namespace weft {

// The schedule that is kept for the kernel; under BEAM=n, where none of as wide a search is or BEAM_BUDGET
// ended that too soon, the one that a search finds. Empty where there is none, where the kernel has its own, or the device chooses
// none.
std::string found_schedule(const KernelFor& wanted,
                           const std::shared_ptr<const ExtraRuleList>& extra);

// Of all searches of the process.
struct SearchCounts {
  std::uint64_t timed = 0;      // candidates that ran
  std::uint64_t refused = 0;    // that could not be applied or compiled, or are too large to be
  std::uint64_t timed_out = 0;  // that had not come back from a trial when they should have
  std::uint64_t crashed = 0;    // that ended one
};
SearchCounts search_counts();

}  // namespace weft
