// Lifetimes of materialised values, and the choice of those to rematerialise.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <weft/dev/schedule/memory_layout.h>

#include "fusion/fusion.h"

namespace weft {

// The data flow of a fused partition: which points each one depends on, and which kernel stores it.
struct PointFlow {
  PointFlow(const Partition& partition, const Fusion& fusion);

  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
  bool is_stored(std::size_t point) const { return step[point] != nowhere; }
  // Returns whether a later kernel than this stores the point.
  bool is_stored_after(std::size_t kernel, std::size_t point) const {
    return is_stored(point) && step[point] > kernel;
  }

  std::vector<std::vector<std::size_t>> sources;  // by point, ascending
  std::vector<std::size_t> step;                  // by point: its kernel's position, or nowhere
};

// Returns when the memory of each point is live, and its bytes: 0 if it outlives the run or existed
// before.
std::vector<Lifetime> lifetimes(const Partition& partition, const Fusion& fusion,
                                const PointFlow& flow);

// Points that are read before and after the step of peak memory, and are recomputed after it.
struct Rematerialized {
  std::size_t step;
  std::vector<bool> points;
};

// The limits on the cost of recomputation.
struct RecomputeBudget {
  double seconds;           // in total
  double seconds_per_byte;  // of memory saved
};

// Returns the points whose recomputation lowers peak memory; nothing if the gain is too small.
std::optional<Rematerialized> worth_rematerializing(const Partition& partition,
                                                    const Fusion& fusion, const PointFlow& flow,
                                                    RecomputeBudget price);

// The readers of a copy: points that are stored after `step`, the first of which is `reader` in
// program order.
struct LateReader {
  std::size_t step, reader;
};

// Returns the point that a kernel which recomputes `point` has to wait for, so that it does not run
// at once. That point is stored after the step, read by the kernel of the reader, and earlier than
// the reader in program order. Returns nothing if each such point follows an assignment that
// `point` does not follow, since it might overwrite memory that is still to be read.
std::optional<std::size_t> point_to_wait_for(const Partition& partition, const Fusion& fusion,
                                             const PointFlow& flow, std::size_t point,
                                             LateReader late);

}  // namespace weft
