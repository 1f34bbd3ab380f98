// An option, tried on the model.
#pragma once

#include <optional>
#include <vector>

#include <weft/dev/device/target.h>

#include "option.h"

namespace weft {

// The fastest first; of equals the one that was tried first.
void sort_by_time(std::vector<Option>& options);

// Whether it has another loop of its own than those of reductions.
bool has_outputs(const Nest& nest);

// Iterations of equal parts, so that nothing is left, or less than there are parts.
std::int64_t part_of(std::int64_t size, std::int64_t most);

class CandidateTime {
 public:
  // Outputs that fill no tiles evenly have this tail.
  CandidateTime(const Nest& nest, const Target& target, Tail uneven)
      : nest_(nest), target_(target), uneven_(uneven) {}

  // Nothing where what is staged, or what is summed in parts, has no place or does not fit into the
  // scratch memory.
  std::optional<double> seconds(const Option& option, bool with_copies = true) const;
  // Bytes for what it stages and sums in parts.
  double scratch_of(const Option& option) const {
    return scratch_of(option, plan_of(nest_, option));
  }
  // The ways to stage it that are worth a try: what padding surrounds is free of it in a region.
  std::vector<Staging> stagings(const NestAccess& access) const;
  // Of the first reduction, so that with those inside of it they take so many steps; 0 first: all iterations.
  std::vector<std::int64_t> blocks(bool is_ordered) const;

 private:
  double scratch_of(const Option& option, const NestPlan& plan) const;
  bool is_legal(const Option& option, const NestPlan& plan) const;
  std::vector<std::size_t> masked_loops(const Option& option) const;
  Nest masked(const Option& option, const std::vector<std::size_t>& loops) const;

  const Nest& nest_;
  const Target& target_;
  Tail uneven_;
};

}  // namespace weft
