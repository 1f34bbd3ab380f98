// BEAM=n: the schedule of a kernel by measuring.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "programs.h"

namespace weft {

// The schedule that is kept for the kernel; under BEAM=n, where none of as wide a search is, the one
// that a search finds. Empty where there is none, where the kernel has its own, or the device chooses
// none.
std::string found_schedule(const KernelFor& wanted,
                           const std::shared_ptr<const ExtraRuleList>& extra);

// Of all searches of the process.
struct SearchCounts {
  std::uint64_t timed = 0;    // candidates that ran
  std::uint64_t refused = 0;  // that could not be applied or compiled
};
SearchCounts search_counts();

}  // namespace weft
