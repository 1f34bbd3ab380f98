#include "footprint.h"

#include <algorithm>
#include <cmath>

namespace weft {

// The extent of an access in each dimension, in the iterations of some pieces, and the number of
// iterations that access irregular places.
struct Footprints::Reach {
  std::vector<double> extents;
  double scattered = 1;

  void begin(const NestAccess& access) {
    extents.assign(access.sizes.size(), 1);
    for (std::size_t d = 0; d < access.first.size(); ++d)
      extents[d] += static_cast<double>(access.last[d] - access.first[d]);
    scattered = 1;
  }
  void extend(const NestAccess& access, const Piece& p) {
    for (std::size_t d = 0; d < extents.size(); ++d)
      extents[d] +=
          std::abs(static_cast<double>(access.step[d][p.loop] * p.step * (p.iterations - 1)));
    if (access.irregular[p.loop]) scattered *= static_cast<double>(p.iterations);
  }
};

Footprints::Footprints(const DeviceModel& machine, const Nest& nest, const NestPlan& plan,
                       std::size_t loops)
    : machine_(machine), nest_(nest), plan_(plan) {
  touched_.resize((loops + 1) * nest.accesses.size());
  Reach reach;
  for (std::size_t a = 0; a < nest.accesses.size(); ++a) {
    const NestAccess& access = nest.accesses[a];
    const std::vector<double> sizes(access.sizes.begin(), access.sizes.end());
    reach.begin(access);
    for (std::size_t i = plan.pieces.size() + 1; i-- > 0;) {
      if (i < plan.pieces.size()) reach.extend(access, plan.pieces[i]);
      if (i <= loops) touched_[place(i, a)] = touched(sizes, access.bytes, reach);
    }
  }
  footprints_ = touched_;
  for (std::size_t a = 0; a < nest.accesses.size(); ++a) {
    if (shares_lines(a))
      for (std::size_t first = 0; first <= loops; ++first)
        footprints_[place(first, a)] = {.lines = 0, .pages = 0};
    const bool is_region = plan.staged[a] >= 0 && plan.by_region[a];
    if (is_region) stage_region(a, loops);
    if (is_region || reads_original_buffer(a)) continue;
    for (auto first = static_cast<std::size_t>(std::int64_t{plan.staged[a]} + 1); first <= loops;
         ++first)
      footprints_[place(first, a)] = packed(a, first);
  }
}

// Whether another access touches the same lines: it reads the same rows, of which it leaves out
// less than a line. The scales in a block of packed numbers come with the numbers, for example.
bool Footprints::shares_lines(std::size_t a) const {
  if (!reads_original_buffer(a) || nest_.accesses[a].sizes.size() < 2) return false;
  for (std::size_t other = 0; other < nest_.accesses.size(); ++other)
    if (other != a && reads_original_buffer(other) && reads_rows_of(other, a)) return true;
  return false;
}

bool Footprints::reads_original_buffer(std::size_t a) const {
  return plan_.staged[a] < 0 && !plan_.is_kept(a);
}

bool Footprints::reads_rows_of(std::size_t other, std::size_t a) const {
  const NestAccess &access = nest_.accesses[a], &beside = nest_.accesses[other];
  if (beside.storage != access.storage || beside.irregular != access.irregular) return false;
  if (!std::ranges::equal(beside.step.begin(), beside.step.end() - 1, access.step.begin(),
                          access.step.end() - 1))
    return false;
  const double own = row_of(access), all = row_of(beside);
  const double row = static_cast<double>(access.sizes.back());
  return (all > own || (all == own && other < a)) && (row - all) * access.bytes < machine_.line;
}

// Returns the extent in the last dimension over all iterations.
double Footprints::row_of(const NestAccess& access) const {
  double elements = 1;
  for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop)
    elements += std::abs(static_cast<double>(access.step.back()[loop])) *
                static_cast<double>(nest_.loops[loop].size - 1);
  return elements;
}

void Footprints::stage_region(std::size_t a, std::size_t loops) {
  const NestAccess& access = nest_.accesses[a];
  const auto inside = static_cast<std::size_t>(plan_.staged[a]) + 1;
  const std::vector<double> sizes = region_sizes(access, plan_, inside);
  Reach reach;
  reach.begin(access);
  for (std::size_t i = plan_.pieces.size(); i-- > inside;) {
    reach.extend(access, plan_.pieces[i]);
    if (i <= loops) footprints_[place(i, a)] = touched(sizes, access.bytes, reach);
  }
}

// A run extends from the last dimension outwards, as long as the dimensions are covered completely.
Footprint Footprints::touched(const std::vector<double>& sizes, double bytes,
                              const Reach& reach) const {
  double run = 1, runs = 1, gap = 1, whole = 1;  // whole: the elements of the inner dimensions
  bool is_covered = true;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const double size = sizes[d];
    const double extent = std::min(reach.extents[d], size);
    if (is_covered) {
      run *= extent;
    } else {
      if (runs == 1 && extent > 1) gap = whole;
      runs *= extent;
    }
    whole *= size;
    is_covered = is_covered && extent >= size;
  }
  Footprint result;
  runs = std::min(runs * reach.scattered, std::max(1.0, whole / run));
  result.runs = runs;
  result.gap = gap * bytes;
  const double span = std::max(run * bytes, runs * result.gap);
  result.lines = runs * std::ceil(run * bytes / machine_.line);
  if (runs > 1 && result.gap < machine_.line) result.lines = std::ceil(span / machine_.line);
  result.pages = std::min(runs * std::ceil(run * bytes / machine_.page), 1 + span / machine_.page);
  // Irregular accesses touch no more than the whole buffer.
  result.lines = std::min(result.lines, 1 + whole * bytes / machine_.line);
  result.pages = std::min(result.pages, 1 + whole * bytes / machine_.page);
  return result;
}

// Returns the footprint of a STAGE in loop order, which is contiguous.
Footprint Footprints::packed(std::size_t a, std::size_t first) const {
  const NestAccess& access = nest_.accesses[a];
  const double bytes = staged_elements(access, plan_, a, first) * access.bytes;
  Footprint result;
  result.lines = std::ceil(bytes / machine_.line);
  result.pages = std::ceil(bytes / machine_.page);
  return result;
}

double Footprints::sum_of(double Footprint::* what, std::size_t first) const {
  double sum = 0;
  for (std::size_t a = 0; a < nest_.accesses.size(); ++a) sum += of(first, a).*what;
  return sum;
}

}  // namespace weft
