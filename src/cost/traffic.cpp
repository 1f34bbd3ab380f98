#include "traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "footprint.h"
#include "planned.h"

namespace weft {
namespace {

constexpr double usable = 0.6;          // part of a cache that holds data for reuse
constexpr double usable_ways = 0.8;     // part of the ways of a set
constexpr double resident_part = 0.25;  // part of a cache that a buffer may fill and stay

// Prepacked data that fills large pages takes this part of the time of data in small pages.
constexpr double large_page = 2 << 20, by_large_pages = 0.65;

// Memory that is read in contiguous runs of fewer bytes takes so many times as long.
struct ShortRun {
  double bytes, times;
};
constexpr ShortRun short_runs[] = {{16384, 1.7}, {65536, 1.15}};
constexpr std::int64_t followed_steps = 16;
// The wait until the prefetcher follows a row, and the wait that all rows read side by side share,
// in line transfers.
constexpr double row_start_lines = 12, shared_start_lines = 64;

class TrafficModel : Planned {
 public:
  TrafficModel(const DeviceModel& machine, const Nest& nest, const NestPlan& plan,
               const Footprints& footprints)
      : Planned(machine, nest, plan), footprints_(footprints) {}

  Traffic of(const MemorySpace& cache) const {
    std::size_t first = 0;
    while (first < loop_pieces_ && !fits(cache, first)) ++first;
    Traffic lines;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      if (&cache != &machine_.memory[0] && stays(cache, nest_.accesses[a])) continue;
      std::size_t kept = first;
      while (kept < loop_pieces_ && conflicts(cache, footprints_.of(kept, a))) ++kept;
      const Footprint& f = footprints_.of(kept, a);
      const double own = conflicts(cache, f) ? f.lines * iterations_outside(kept, a)
                                             : swept(&Footprint::lines, kept, a);
      const bool is_far = &cache != &machine_.memory[0] && first > 0 && !reads_copy(a);
      const double run = is_far ? run_bytes(nest_.accesses[a]) : 0;
      const bool has_large_pages = &cache == &machine_.memory.back() && plan_.is_kept(a) &&
                                   bytes_of(nest_.accesses[a]) >= large_page;
      lines.all += own * (is_read_before_written(a) ? 2 : 1) * (is_far ? slower_by(run) : 1) *
                   (has_large_pages ? by_large_pages : 1);
      if (is_far && is_scattered(nest_.accesses[a])) lines.scattered += own;
      if (&cache == &machine_.memory.back()) lines.waiting += own * waiting_for_line(a);
    }
    return lines;
  }

  double page_cycles() const {
    std::size_t first = 0;
    while (first < loop_pieces_ && footprints_.sum_of(&Footprint::pages, first) > machine_.pages)
      ++first;
    double missed = 0;
    for (std::size_t a = 0; a < nest_.accesses.size() && first > 0; ++a)
      missed += swept(&Footprint::pages, first, a);
    return missed * machine_.page_miss;
  }

 private:
  bool fits(const MemorySpace& cache, std::size_t first) const {
    return footprints_.sum_of(&Footprint::lines, first) * machine_.line <= usable * cache.bytes;
  }

  // Whether runs evict each other, because their gap maps them to few sets of the cache.
  bool conflicts(const MemorySpace& cache, const Footprint& f) const {
    if (f.gap < machine_.line) return false;
    const auto way = static_cast<std::int64_t>(cache.bytes / cache.ways);
    const auto places = way / std::gcd(static_cast<std::int64_t>(f.gap), way);
    return f.runs > static_cast<double>(places) * cache.ways * usable_ways;
  }

  // Returns how many lines or pages come in if all that the pieces from `first` on touch stays
  // resident. Each outer iteration fetches it again, except what the previous one has left there.
  double swept(double Footprint::* what, std::size_t first, std::size_t a) const {
    const double once = footprints_.of(first, a).*what;
    if (first == 0) return once;
    const double iterations = iterations_of(first - 1, a);
    const double each = (footprints_.of(first - 1, a).*what - once) / std::max(iterations - 1, 1.0);
    return iterations_outside(first - 1, a) *
           (once + (iterations - 1) * std::clamp(each, 0.0, once));
  }

  // Whether the buffer is in the cache before the kernel starts: the kernel that computed it has
  // left it there, or the previous call a constant in the last cache.
  bool stays(const MemorySpace& cache, const NestAccess& access) const {
    const bool may_stay = !access.is_constant || machine_.repeats ||
                          (machine_.constants_stay && &cache == &machine_.memory.back());
    return may_stay && bytes_of(access) <= resident_part * cache.bytes;
  }

  // Returns the waits at the starts of rows, per line that is read. Each of the rows that are read
  // side by side makes the prefetcher start again. There is no wait for buffers that the last cache
  // may still hold, except constants, because other constants were read since. Without a reduction,
  // stores proceed during the wait.
  double waiting_for_line(std::size_t a) const {
    const NestAccess& access = nest_.accesses[a];
    const double run = rows_together(access);
    if (!nest_.has_reduce() || access.is_write || reads_copy(a) || run < scattered_run) return 0;
    const bool is_near = !access.is_constant || machine_.repeats;
    if (is_near && bytes_of(access) <= machine_.memory.back().bytes) return 0;
    return (row_start_lines + shared_start_lines / rows_of(access).beside) * machine_.line / run;
  }

  // Whether lines are read before they are written. Streaming stores avoid that for whole lines of
  // buffers that are only written and larger than the last cache.
  bool is_read_before_written(std::size_t a) const {
    const NestAccess& access = nest_.accesses[a];
    if (!access.is_write) return false;
    const Piece* lanes = vector();
    const bool is_whole = lanes != nullptr && access.stride(lanes->loop) == 1 &&
                          !access.is_masked &&
                          static_cast<double>(lanes->iterations) * access.bytes >= machine_.line;
    const bool is_read = std::ranges::any_of(nest_.accesses, [&](const NestAccess& other) {
      return !other.is_write && other.storage == access.storage;
    });
    return !is_whole || is_read || bytes_of(access) <= machine_.memory.back().bytes;
  }

  static double slower_by(double run) {
    const auto* found =
        std::ranges::find_if(short_runs, [&](auto entry) { return run < entry.bytes; });
    return found == std::end(short_runs) ? 1 : found->times;
  }

  // Whether the next run begins in the next line at the latest.
  bool is_adjacent(const NestAccess& access, std::int64_t run, std::int64_t distance) const {
    return run <= distance && static_cast<double>(distance - run) * access.bytes < machine_.line;
  }

  // Returns the bytes of contiguous memory that successive iterations touch. Adjacent rows that
  // copies of a reduction read side by side are one run if each is read to its end.
  double run_bytes(const NestAccess& access) const {
    std::int64_t run = 1;
    const Piece* beside = nullptr;
    for (std::size_t i = pieces(); i-- > 0;) {
      const Piece& p = piece(i);
      if (!changes(access, i) || p.iterations == 1) continue;
      const std::int64_t distance = std::abs(access.stride(p.loop)) * p.step;
      if (p.kind == LoopKind::Upcast && is_reduce(i) && distance > run) {
        beside = &p;
        continue;
      }
      if (access.irregular[p.loop] || !is_adjacent(access, run, distance)) break;
      run = distance * p.iterations;
      if (beside != nullptr && std::abs(access.stride(beside->loop)) * beside->step == run)
        run *= std::exchange(beside, nullptr)->iterations;
    }
    return static_cast<double>(run) * access.bytes;
  }

  // Whether reads jump after too few steps at one stride for the prefetcher to follow them. Pieces
  // in registers only read several rows side by side.
  bool is_scattered(const NestAccess& access) const {
    if (access.is_write) return false;
    for (std::size_t i = loop_pieces_; i-- > 0;) {
      if (!changes(access, i) || piece(i).iterations == 1) continue;
      if (access.irregular[piece(i).loop]) return true;
      if (piece(i).iterations >= followed_steps) return false;
      break;
    }
    return rows_together(access) < scattered_run;
  }

  // The length of the row that successive iterations read, and how many such rows copies read side
  // by side. Adjacent rows within a page count as one.
  struct Rows {
    std::int64_t length = 1;
    double beside = 1;
  };
  Rows rows_of(const NestAccess& access) const {
    Rows rows;
    const Piece* copies = nullptr;
    for (std::size_t i = pieces(); i-- > 0;) {
      const Piece& p = piece(i);
      if (!changes(access, i) || p.iterations == 1) continue;
      const std::int64_t distance = std::abs(access.stride(p.loop)) * p.step;
      if (in_registers(p) && distance > rows.length) {
        rows.beside *= iterations(i);
        copies = &p;
        continue;
      }
      if (!is_adjacent(access, rows.length, distance)) break;
      rows.length = distance * p.iterations;
      if (copies != nullptr && follow(access, *copies, rows.length)) {
        rows.length *= copies->iterations;
        rows.beside /= static_cast<double>(copies->iterations);
        copies = nullptr;
      }
    }
    return rows;
  }
  bool follow(const NestAccess& access, const Piece& copies, std::int64_t length) const {
    return std::abs(access.stride(copies.loop)) * copies.step == length &&
           static_cast<double>(length * copies.iterations) * access.bytes <= machine_.page;
  }
  double rows_together(const NestAccess& access) const {
    return static_cast<double>(rows_of(access).length) * access.bytes;
  }

  const Footprints& footprints_;
};

}  // namespace

std::vector<Traffic> traffic_of(const DeviceModel& machine, const Nest& nest, const NestPlan& plan,
                                const Footprints& footprints) {
  const TrafficModel model(machine, nest, plan, footprints);
  std::vector<Traffic> traffic;
  for (const MemorySpace& cache : machine.memory) traffic.push_back(model.of(cache));
  return traffic;
}

double page_cycles(const DeviceModel& machine, const Nest& nest, const NestPlan& plan,
                   const Footprints& footprints) {
  return TrafficModel(machine, nest, plan, footprints).page_cycles();
}

}  // namespace weft
