#include "copies.h"

#include <algorithm>

#include "footprint.h"
#include "planned.h"
#include "traffic.h"

namespace weft {
namespace {

constexpr double prepack_price = 0.02;  // of the time to read the prepacked data

class StageFills : Planned {
 public:
  StageFills(const DeviceModel& machine, const Nest& nest, const NestPlan& plan,
             const Footprints& footprints)
      : Planned(machine, nest, plan), footprints_(footprints) {}

  // A STAGE is filled once per iteration of the enclosing loops, up to the last that it depends on.
  double cycles() const {
    double cycles = 0;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      if (plan_.staged[a] < 0) continue;
      const NestAccess& access = nest_.accesses[a];
      const auto at = static_cast<std::size_t>(plan_.staged[a]);
      double fills = 1, outside = 1;
      double parts = 0;  // vectors that are read for each stored one, if lanes have a short stride
      bool is_contiguous = false;
      for (std::size_t i = 0; i < pieces(); ++i) {
        outside *= iterations(i);
        if (!changes(access, i)) continue;
        if (i <= at) fills = outside;
        if (i <= at || access.irregular[piece(i).loop]) continue;
        if (piece(i).kind != LoopKind::Vector) continue;
        is_contiguous = access.stride(piece(i).loop) * piece(i).step == 1;
        if (has_short_stride(access.stride(piece(i).loop), piece(i).iterations))
          parts = static_cast<double>(access.stride(piece(i).loop));
      }
      const double elements = staged_elements(access, plan_, a, at + 1);
      const double lanes = machine_.vector_bytes / access.bytes;
      const double each = is_contiguous ? 2 / lanes
                          : parts > 0   ? (1 + (access.is_masked ? 3 : 2) * parts) / lanes
                          : plan_.by_region[a]
                              ? along_rows(region_sizes(access, plan_, at + 1).back(), lanes)
                          : row_of(access, at) >= 4 ? 0.5
                                                    : 1.5;
      // A STAGE inside pieces in registers counts as if it were filled outside them.
      const Footprint& source = footprints_.of_memory(std::min(at + 1, loop_pieces_), a);
      // The prefetcher follows the rows of a region, and mostly long rows that are transposed.
      const double run = static_cast<double>(run_of(access, at)) * access.bytes;
      const double missed = plan_.by_region[a]     ? 0
                            : run >= scattered_run ? source.lines * machine_.line_miss / 4
                                                   : source.lines * machine_.line_miss;
      cycles += fills * (elements * each + missed + source.pages * machine_.page_miss);
    }
    return cycles;
  }

 private:
  // Returns how many contiguous elements the pieces inside `at` copy for each lane. Masked elements
  // are copied one by one.
  std::int64_t row_of(const NestAccess& access, std::size_t at) const {
    return access.is_masked ? 1 : extended(access, at, 1, false);
  }

  // Returns the length of these rows, joined over lanes whose rows are adjacent.
  std::int64_t run_of(const NestAccess& access, std::size_t at) const {
    const std::int64_t row = row_of(access, at);
    return row > 1 ? extended(access, at, row, true) : row;
  }

  // Returns the length of a run together with those that lanes, or other pieces, add to it.
  std::int64_t extended(const NestAccess& access, std::size_t at, std::int64_t run,
                        bool by_lanes) const {
    for (std::size_t i = pieces(); --i > at;)
      if (const Piece& p = piece(i); (p.kind == LoopKind::Vector) == by_lanes &&
                                     !access.irregular[p.loop] &&
                                     access.stride(p.loop) * p.step == run)
        run *= p.iterations;
    return run;
  }

  // Returns the cycles per element of a region, where the end of each row costs extra.
  static double along_rows(double row, double lanes) { return std::max(4 / lanes, 1.5 / row); }

  const Footprints& footprints_;
};

}  // namespace

double copy_cycles(const DeviceModel& machine, const Nest& nest, const NestPlan& plan,
                   const Footprints& footprints) {
  return StageFills(machine, nest, plan, footprints).cycles();
}

double prepack_cost(const DeviceModel& machine, const Nest& nest, const NestPlan& plan) {
  double bytes = 0;
  for (std::size_t a = 0; a < nest.accesses.size(); ++a)
    if (plan.is_kept(a))
      bytes += staged_elements(nest.accesses[a], plan, a, 0) * nest.accesses[a].bytes;
  return machine.memory.empty() || machine.repeats
             ? 0
             : prepack_price * bytes / machine.memory.back().bandwidth;
}

}  // namespace weft
