// The cache lines and pages that a loop nest touches, and their distribution in memory.
#pragma once

#include <vector>

#include <weft/dev/cost/nest.h>

namespace weft {

struct Footprint {
  double lines = 1, pages = 1;
  double runs = 1, gap = 0;  // contiguous runs, and the bytes from one to the next
};

// The footprint of each access in the iterations of the pieces from `first` on, for every `first`.
class Footprints {
 public:
  // The first `loops` pieces of the plan are loops, the others are in registers.
  Footprints(const DeviceModel& machine, const Nest& nest, const NestPlan& plan, std::size_t loops);

  // of_memory() is the footprint in the original buffer, of() that in a STAGE if there is one.
  const Footprint& of_memory(std::size_t first, std::size_t access) const {
    return touched_[place(first, access)];
  }
  const Footprint& of(std::size_t first, std::size_t access) const {
    return footprints_[place(first, access)];
  }
  double sum_of(double Footprint::* what, std::size_t first) const;

 private:
  struct Reach;

  std::size_t place(std::size_t first, std::size_t access) const {
    return first * nest_.accesses.size() + access;
  }
  // Returns the footprint of a reach in memory with these sizes.
  Footprint touched(const std::vector<double>& sizes, double bytes, const Reach& reach) const;
  Footprint packed(std::size_t access, std::size_t first) const;
  void stage_region(std::size_t access, std::size_t loops);
  bool shares_lines(std::size_t access) const;
  bool reads_original_buffer(std::size_t access) const;
  bool reads_rows_of(std::size_t other, std::size_t access) const;
  double row_of(const NestAccess& access) const;

  const DeviceModel& machine_;
  const Nest& nest_;
  const NestPlan& plan_;
  std::vector<Footprint> touched_, footprints_;  // by `first` and access
};

}  // namespace weft
