// Estimates the time of an option by the cost model.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include <weft/dev/device/target.h>

#include "option.h"

namespace weft {

// Sorts by time, fastest first, and equal times by the order of trial.
void sort_by_time(std::vector<Option>& options);

// Whether the nest has an output loop of its own.
bool has_outputs(const Nest& nest);

// Returns the length of the parts when `size` is split into at least two, none longer than `most`.
// Prefers an even split; otherwise the rest is smaller than the number of parts.
std::int64_t part_length(std::int64_t size, std::int64_t most);

class CandidateTime {
 public:
  // `uneven` is the tail of output loops that tiles do not divide.
  CandidateTime(const Nest& nest, const Target& target, Tail uneven)
      : nest_(nest), target_(target), uneven_(uneven) {}

  // Returns nothing if the option is illegal: a staged value has no loop to be staged at, the
  // blocked reduction is the vector loop, or the scratch memory does not suffice. Of an option whose
  // instructions alone take more than `most`, it returns their time.
  std::optional<double> seconds(const Option& option, bool with_copies = true,
                                double most = std::numeric_limits<double>::infinity()) const;
  // Returns the bytes of staged values and of partial sums.
  double scratch_of(const Option& option) const {
    return scratch_of(option, plan_of(nest_, option));
  }
  // Returns the ways to stage an access that are worth trying. A region includes padding, which
  // saves the masks.
  std::vector<Staging> stagings(const NestAccess& access) const;
  // Returns block sizes of the first reduction such that a block, with the reductions inside, takes
  // hundreds of steps. The first is 0: no blocks.
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
