// Which values are kept in memory until they are read for the last time, and which are computed again.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <weft/dev/schedule/layout.h>

#include "fuse.h"

namespace weft {

// Of a fused graph: which cuts each is made of, and the kernel that stores it, by its place in the order.
struct Flow {
  Flow(const CutGraph& graph, const Fusion& fusion);

  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
  bool is_stored(std::size_t cut) const { return step[cut] != nowhere; }

  std::vector<std::vector<std::size_t>> sources;  // by cut, ascending
  std::vector<std::size_t> step;                  // by cut; nowhere for what gets no memory
};

// When each cut's memory is needed, and how much of the plan's own: no bytes of what outlives the run, or was there
// before.
std::vector<Lifetime> lifetimes(const CutGraph& graph, const Fusion& fusion, const Flow& flow);

// Cuts that are read before and after the step where most memory is needed, and computed again after it.
struct Again {
  std::size_t step;
  std::vector<bool> cuts;
};

// What computing again may cost.
struct Price {
  double seconds;           // in all
  double seconds_per_byte;  // that need not be kept
};

// Those for which less memory is needed at one time.
std::optional<Again> worth_computing_again(const CutGraph& graph, const Fusion& fusion,
                                           const Flow& flow, Price price);

// Who needs a copy: cuts that are stored after a step, and the first of them in the program's order.
struct Late {
  std::size_t step, reader;
};

// What a kernel that computes the cut again waits for, so that it does not run at once: something that is stored
// after the step, read by the kernel of that reader, and made before the reader in the program. Nothing where
// there is none, or it follows assignments that the cut does not: these overwrite what others are still to read.
std::optional<std::size_t> awaited(const CutGraph& graph, const Fusion& fusion, const Flow& flow,
                                   std::size_t cut, Late late);

}  // namespace weft
