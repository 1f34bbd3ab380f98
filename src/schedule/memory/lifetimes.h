// Which values are kept in memory until they are read for the last time, and which are computed again.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <weft/dev/schedule/memory_layout.h>

#include "fusion/fusion.h"

namespace weft {

// Of a fused partition: which points each is made of, and the kernel that stores it, by its place in the order.
struct Flow {
  Flow(const Partition& partition, const Fusion& fusion);

  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
  bool is_stored(std::size_t point) const { return step[point] != nowhere; }

  std::vector<std::vector<std::size_t>> sources;  // by point, ascending
  std::vector<std::size_t> step;                  // by point; nowhere for what gets no memory
};

// When each point's memory is needed, and how much of the plan's own: no bytes of what outlives the run, or was there
// before.
std::vector<Lifetime> lifetimes(const Partition& partition, const Fusion& fusion, const Flow& flow);

// Cuts that are read before and after the step where most memory is needed, and computed again after it.
struct Rematerialized {
  std::size_t step;
  std::vector<bool> points;
};

// What computing again may cost.
struct Price {
  double seconds;           // in all
  double seconds_per_byte;  // that need not be kept
};

// Those for which less memory is needed at one time.
std::optional<Rematerialized> worth_rematerializing(const Partition& partition,
                                                    const Fusion& fusion, const Flow& flow,
                                                    Price price);

// Who needs a copy: points that are stored after a step, and the first of them in the program's order.
struct Late {
  std::size_t step, reader;
};

// What a kernel that computes the point again waits for, so that it does not run at once: something that is stored
// after the step, read by the kernel of that reader, and made before the reader in the program. Nothing where
// there is none, or it follows assignments that the point does not: these overwrite what others are still to read.
std::optional<std::size_t> awaited(const Partition& partition, const Fusion& fusion,
                                   const Flow& flow, std::size_t point, Late late);

}  // namespace weft
