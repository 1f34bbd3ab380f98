// The time of a nest of loops: what its instructions take, and what each cache takes to be filled.

#include <weft/dev/cost/nest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "footprint.h"

namespace weft {
namespace {

constexpr double kept_price = 0.02;  // of the time to read what is kept
constexpr double usable = 0.6;       // of a cache, by what is read again
constexpr double usable_ways = 0.8;  // of a set
constexpr double staying = 0.25;     // of the last cache, at most, from one kernel to the next

// How many times as long takes memory of which less than this lies together.
struct ShortRun {
  double bytes, times;
};
constexpr ShortRun short_runs[] = {{16384, 1.7}, {65536, 1.15}};
// Nothing fetches runs as short as this ahead: a line of them is waited for, so many times as long as it
// takes to come.
constexpr double scattered_run = 256, scattered_wait = 10;
constexpr std::int64_t followed_steps = 16;
// Until what comes from memory is read ahead: as long as so many lines take that are. Rows side by side wait together.
constexpr double started_after = 12, all_started_after = 64;
// Of what is computed: later trips go on meanwhile.
constexpr double most_waiting = 0.35;

// Instructions: of which lanes are there, which copies share, and of each whether it is there at all.
constexpr double mask_of_lanes = 6, mask = 2;
constexpr double lanes_summed = 8;  // cycles, into one value
// For what finds no register: of each in each trip, and until a sum that went to memory is there again.
constexpr double spilled = 1.5, forwarded = 8;

// What runs side by side takes as long as the longest, and more where others take nearly as long.
double hindering(std::initializer_list<double> cycles) {
  double sum = 0;
  for (const double each : cycles) sum += each * each * each * each;
  return std::sqrt(std::sqrt(sum));
}

bool in_registers(const Piece& piece) {
  return piece.kind == LoopKind::Upcast || piece.kind == LoopKind::Vector;
}

class Model {
 public:
  Model(const Machine& machine, const Nest& nest, const NestPlan& plan)
      : machine_(machine),
        nest_(nest),
        plan_(plan),
        loop_pieces_(static_cast<std::size_t>(
            std::ranges::count_if(plan.pieces, std::not_fn(in_registers)))),
        footprints_(machine, nest, plan, loop_pieces_) {
    for (const NestAccess& access : nest.accesses) is_inner_.push_back(is_inner(access));
  }

  NestTime time() const {
    NestTime time;
    const double workers = effective_workers();
    double starts = 0;
    time.launch = threads() > 1 ? machine_.launch : 0;
    time.compute = (compute_cycles() + page_cycles()) / machine_.hertz / workers;
    time.copies = copy_cycles() / machine_.hertz / workers + price_of_kept();
    for (std::size_t level = 0; level < machine_.levels.size(); ++level) {
      const CacheLevel& cache = machine_.levels[level];
      const double shared = cache.is_shared ? 1 : workers;
      const Traffic lines = traffic(cache);
      const double line = machine_.line / cache.bandwidth;
      const double seconds = lines.all * line / shared;
      time.waits += lines.scattered * line * scattered_wait / workers;
      starts += lines.waiting * line / workers;
      if (seconds > time.memory) {
        time.memory = seconds;
        time.slowest = level;
      }
    }
    time.waits = std::min(time.waits, most_waiting * time.compute) + starts;
    return time;
  }

 private:
  const Piece& piece(std::size_t i) const { return plan_.pieces[i]; }
  std::size_t pieces() const { return plan_.pieces.size(); }
  bool changes(const NestAccess& access, std::size_t i) const {
    return access.changes_with(piece(i).loop);
  }
  // Of an access: what stands outside of the reduction is not there in its trips.
  double trips_of(std::size_t i, std::size_t a) const {
    const bool is_there = !nest_.loops[piece(i).loop].is_reduce || is_inner_[a];
    return is_there ? static_cast<double>(piece(i).trips) : 1;
  }
  double trips_outside(std::size_t first, std::size_t a) const {
    double trips = 1;
    for (std::size_t i = 0; i < first; ++i) trips *= trips_of(i, a);
    return trips;
  }

  double threads() const {
    double count = 1;
    for (const Piece& piece : plan_.pieces)
      if (piece.kind == LoopKind::Thread) count *= static_cast<double>(piece.trips);
    return count;
  }
  double effective_workers() const {
    const double count = threads(), workers = machine_.workers;
    return count <= 1 ? 1 : count / std::ceil(count / workers);
  }

  bool fits(const CacheLevel& cache, std::size_t first) const {
    return footprints_.sum_of(&Footprint::lines, first) * machine_.line <= usable * cache.bytes;
  }

  // Parts at a distance that divides the size of a way meet in few of its sets.
  bool conflicts(const CacheLevel& cache, const Footprint& f) const {
    if (f.gap < machine_.line) return false;
    const auto way = static_cast<std::int64_t>(cache.bytes / cache.ways);
    const auto places = way / std::gcd(static_cast<std::int64_t>(f.gap), way);
    return f.runs > static_cast<double>(places) * cache.ways * usable_ways;
  }

  // What comes in, of lines or of pages, where all that the pieces from `first` on touch is kept: as
  // often as what it belongs to is swept again, but for what the next trip finds there.
  double swept(double Footprint::* what, std::size_t first, std::size_t a) const {
    const double once = footprints_.of(first, a).*what;
    if (first == 0) return once;
    const double trips = trips_of(first - 1, a);
    const double each = (footprints_.of(first - 1, a).*what - once) / std::max(trips - 1, 1.0);
    return trips_outside(first - 1, a) * (once + (trips - 1) * std::clamp(each, 0.0, once));
  }

  struct Traffic {
    double all = 0, scattered = 0;  // lines
    double waiting = 0;             // lines that might have come until others are read ahead
  };

  static double bytes_of(const NestAccess& access) {
    double bytes = access.bytes;
    for (const std::int64_t size : access.sizes) bytes *= static_cast<double>(size);
    return bytes;
  }

  // In the last cache from one kernel to the next: who made it, or the call before, has left it there.
  static bool stays(const CacheLevel& last, const NestAccess& access) {
    return bytes_of(access) <= staying * last.bytes;
  }

  Traffic traffic(const CacheLevel& cache) const {
    std::size_t first = 0;
    while (first < loop_pieces_ && !fits(cache, first)) ++first;
    Traffic lines;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      if (&cache == &machine_.levels.back() && stays(cache, nest_.accesses[a])) continue;
      std::size_t kept = first;
      while (kept < loop_pieces_ && conflicts(cache, footprints_.of(kept, a))) ++kept;
      const Footprint& f = footprints_.of(kept, a);
      const double own = conflicts(cache, f) ? f.lines * trips_outside(kept, a)
                                             : swept(&Footprint::lines, kept, a);
      const bool is_far = &cache != &machine_.levels[0] && first > 0 && !lies_together(a);
      const double run = is_far ? run_bytes(nest_.accesses[a]) : 0;
      lines.all += own * (is_read_before_written(a) ? 2 : 1) * (is_far ? slower_by(run) : 1);
      if (is_far && is_scattered(nest_.accesses[a])) lines.scattered += own;
      if (&cache == &machine_.levels.back()) lines.waiting += own * waiting_for_line(a);
    }
    return lines;
  }

  // Rows that are read side by side each begin anew, and so do those behind them. Of what the last cache has room for
  // some may still be there; where as much is written as is read, that goes on meanwhile.
  double waiting_for_line(std::size_t a) const {
    const NestAccess& access = nest_.accesses[a];
    const double run = rows_together(access);
    if (!nest_.has_reduce() || access.is_write || lies_together(a) || run < scattered_run) return 0;
    if (bytes_of(access) <= machine_.levels.back().bytes) return 0;
    return (started_after + all_started_after / rows_of(access).beside) * machine_.line / run;
  }

  // In the order of the loops, by the plan.
  bool is_packed(std::size_t a) const {
    return plan_.is_kept(a) || (plan_.staged[a] >= 0 && !plan_.by_region[a]);
  }
  bool lies_together(std::size_t a) const { return is_packed(a) || plan_.staged[a] >= 0; }

  // Lines that are only written go past the caches, where all of it is more than the last one holds.
  bool is_read_before_written(std::size_t a) const {
    const NestAccess& access = nest_.accesses[a];
    if (!access.is_write || machine_.levels.empty()) return access.is_write;
    const Piece* lanes = vector();
    const bool is_whole = lanes != nullptr && access.stride(lanes->loop) == 1 &&
                          !access.is_masked &&
                          static_cast<double>(lanes->trips) * access.bytes >= machine_.line;
    const bool is_read = std::ranges::any_of(nest_.accesses, [&](const NestAccess& other) {
      return !other.is_write && other.storage == access.storage;
    });
    return !is_whole || is_read || bytes_of(access) <= machine_.levels.back().bytes;
  }

  static double slower_by(double run) {
    const auto* found =
        std::ranges::find_if(short_runs, [&](auto entry) { return run < entry.bytes; });
    return found == std::end(short_runs) ? 1 : found->times;
  }

  // In the next line at the latest.
  bool goes_on(const NestAccess& access, std::int64_t run, std::int64_t distance) const {
    return run <= distance && static_cast<double>(distance - run) * access.bytes < machine_.line;
  }

  // What lies together of what one trip after the other touches. Rows that a sum reads side by side join
  // where each is read to its end.
  double run_bytes(const NestAccess& access) const {
    std::int64_t run = 1;
    const Piece* beside = nullptr;
    for (std::size_t i = pieces(); i-- > 0;) {
      const Piece& p = piece(i);
      if (!changes(access, i) || p.trips == 1) continue;
      const std::int64_t distance = std::abs(access.stride(p.loop)) * p.step;
      if (p.kind == LoopKind::Upcast && nest_.loops[p.loop].is_reduce && distance > run) {
        beside = &p;
        continue;
      }
      if (access.irregular[p.loop] || !goes_on(access, run, distance)) break;
      run = distance * p.trips;
      if (beside != nullptr && std::abs(access.stride(beside->loop)) * beside->step == run)
        run *= std::exchange(beside, nullptr)->trips;
    }
    return static_cast<double>(run) * access.bytes;
  }

  // Whether what is read jumps after few steps: what goes on at one distance is followed. What stands in
  // registers reads several rows side by side.
  bool is_scattered(const NestAccess& access) const {
    if (access.is_write) return false;
    for (std::size_t i = loop_pieces_; i-- > 0;) {
      if (!changes(access, i) || piece(i).trips == 1) continue;
      if (access.irregular[piece(i).loop]) return true;
      if (piece(i).trips >= followed_steps) return false;
      break;
    }
    return rows_together(access) < scattered_run;
  }

  // What one trip after the other reads, and how many such rows stand beside each other in registers. Those that
  // follow one another within a page are one.
  struct Rows {
    std::int64_t length = 1;
    double beside = 1;
  };
  Rows rows_of(const NestAccess& access) const {
    Rows rows;
    const Piece* copies = nullptr;
    for (std::size_t i = pieces(); i-- > 0;) {
      const Piece& p = piece(i);
      if (!changes(access, i) || p.trips == 1) continue;
      const std::int64_t distance = std::abs(access.stride(p.loop)) * p.step;
      if (in_registers(p) && distance > rows.length) {
        rows.beside *= static_cast<double>(p.trips);
        copies = &p;
        continue;
      }
      if (!goes_on(access, rows.length, distance)) break;
      rows.length = distance * p.trips;
      if (copies != nullptr && follow(access, *copies, rows.length)) {
        rows.length *= copies->trips;
        rows.beside /= static_cast<double>(copies->trips);
        copies = nullptr;
      }
    }
    return rows;
  }
  bool follow(const NestAccess& access, const Piece& copies, std::int64_t length) const {
    return std::abs(access.stride(copies.loop)) * copies.step == length &&
           static_cast<double>(length * copies.trips) * access.bytes <= machine_.page;
  }
  double rows_together(const NestAccess& access) const {
    return static_cast<double>(rows_of(access).length) * access.bytes;
  }

  // Sums that loops of the output run inside of.
  bool sums_in_memory() const {
    bool is_inside = false;
    for (std::size_t i = 0; i < loop_pieces_; ++i) {
      const bool is_reduce = nest_.loops[piece(i).loop].is_reduce;
      if (i + 1 == loop_pieces_) return is_inside && !is_reduce && piece(i).trips > 1;
      is_inside = is_inside || is_reduce;
    }
    return false;
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

  // Instructions of one trip of the innermost loop, for all that stands in registers.
  struct Instructions {
    double arithmetic = 0, loads = 0, gathers = 0, held = 0;
    double others = 0;  // that take none of these ports
    double lines = 0;   // that nothing announced
    double turned = 0;  // registers that reads were turned to
  };

  double upcast_trips(const NestAccess& access) const {
    double trips = access.places;
    for (std::size_t i = loop_pieces_; i < pieces(); ++i)
      if (piece(i).kind == LoopKind::Upcast && changes(access, i))
        trips *= static_cast<double>(piece(i).trips);
    return trips;
  }

  const Piece* vector() const {
    for (std::size_t i = loop_pieces_; i < pieces(); ++i)
      if (piece(i).kind == LoopKind::Vector) return &piece(i);
    return nullptr;
  }

  bool is_inner(const NestAccess& access) const {
    if (!nest_.has_reduce()) return true;
    for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop)
      if (nest_.loops[loop].is_reduce && access.changes_with(loop)) return true;
    return false;
  }

  // Rows of any length begin anywhere in a line, so that vectors lie in two of them.
  bool crosses_lines(const NestAccess& access, std::size_t lanes) const {
    for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop) {
      const double step = static_cast<double>(access.stride(loop)) * access.bytes;
      if (loop != lanes && std::fmod(step, machine_.vector_bytes) != 0) return true;
    }
    return false;
  }

  // How many neighbours the copies read together, where lanes are at a distance.
  std::int64_t turned_at_once(const NestAccess& access, const Piece& lanes) const {
    if (access.is_write || access.is_masked || access.irregular[lanes.loop]) return 1;
    std::int64_t neighbours = 1;
    for (const Piece& p : plan_.pieces)
      if (p.kind == LoopKind::Upcast && p.step == 1 && !access.irregular[p.loop] &&
          access.stride(p.loop) == 1)
        neighbours = p.trips;
    return weft::turned_at_once(neighbours, lanes.trips, static_cast<std::size_t>(access.bytes));
  }

  // What is read next lies behind what is read now, in no more rows than can be followed.
  bool is_announced(const NestAccess& access) const {
    if (loop_pieces_ == 0 || std::abs(access.stride(piece(loop_pieces_ - 1).loop)) != 1)
      return false;
    double rows = 1;
    for (std::size_t i = loop_pieces_; i < pieces(); ++i)
      if (changes(access, i) && std::abs(access.stride(piece(i).loop)) != 1)
        rows *= static_cast<double>(piece(i).trips);
    return rows <= machine_.streams;
  }

  // A row is read for each lane; rows are joined to vectors, and these interleaved by halves.
  static void count_turned(double blocks, std::int64_t rows, std::int64_t width,
                           Instructions& sum) {
    const int steps = std::bit_width(static_cast<std::uint64_t>(width)) - 1;
    sum.loads += blocks * static_cast<double>(rows);
    sum.arithmetic += blocks * static_cast<double>(rows - width + width * steps);
  }

  // As many vectors as elements from one lane to the next, shuffled into one; their masks as well.
  static void count_between(double vectors, const NestAccess& access, std::int64_t stride,
                            Instructions& sum) {
    const double parts = std::max(vectors, 1.0) * static_cast<double>(stride);
    sum.loads += parts;
    sum.arithmetic += parts;
    if (access.is_masked) sum.arithmetic += mask_of_lanes * static_cast<double>(stride) + parts;
  }

  // There for some lanes and not for others.
  static bool is_one_for_lanes(const NestAccess& access, const Piece& lanes) {
    return access.stride(lanes.loop) == 0 && !access.irregular[lanes.loop];
  }

  // Copies fill what lies between the lanes.
  bool writes_in_turns(const NestAccess& access, std::int64_t stride) const {
    return !access.is_masked && (stride == 2 || stride == 4) &&
           std::ranges::any_of(plan_.pieces, [&](const Piece& p) {
             return p.kind == LoopKind::Upcast && p.step == 1 && p.trips == stride &&
                    !access.irregular[p.loop] && access.stride(p.loop) == 1;
           });
  }

  // Interleaved by halves, and written as one.
  void count_in_turns(double copies, double bytes, std::int64_t stride, Instructions& sum) const {
    const int steps = std::bit_width(static_cast<std::uint64_t>(stride)) - 1;
    const double vectors = copies * bytes / machine_.vector_bytes;
    sum.arithmetic += std::max(copies, vectors) * steps;
    sum.loads += 2 * std::max(vectors, 1.0);
  }

  // Cycles of the reads and writes of one trip, and the registers that hold them.
  void count(std::size_t a, Instructions& sum) const {
    const NestAccess& access = nest_.accesses[a];
    const double times = upcast_trips(access);
    const Piece* lanes = vector();
    double each = 1;
    if (lanes != nullptr && access.changes_with(lanes->loop) && !is_one_for_lanes(access, *lanes)) {
      const std::int64_t stride = access.irregular[lanes->loop] ? 0 : access.stride(lanes->loop);
      const bool is_staged = lies_together(a);
      const bool is_contiguous =
          stride == 1 || is_packed(a) || (is_staged && reads_between(stride, lanes->trips));
      if (access.is_write && writes_in_turns(access, stride))
        return count_in_turns(times, static_cast<double>(lanes->trips) * access.bytes, stride, sum);
      if (!is_contiguous && !access.is_write && reads_between(stride, lanes->trips))
        return count_between(times * vectors_wide(), access, stride, sum);
      const std::int64_t width = is_contiguous ? 1 : turned_at_once(access, *lanes);
      if (width > 1) {
        const double bytes = times * static_cast<double>(lanes->trips) * access.bytes;
        if (!is_announced(access)) sum.lines += bytes / machine_.line;
        sum.turned += bytes / machine_.vector_bytes;
        return count_turned(times / static_cast<double>(width), lanes->trips, width, sum);
      }
      if (!is_contiguous) sum.gathers += times * static_cast<double>(lanes->trips);
      // Of stores that far apart no line stays until all of it is written.
      if (access.is_write && static_cast<double>(std::abs(stride)) * access.bytes >= machine_.page)
        sum.lines += times * static_cast<double>(lanes->trips);
      each = is_contiguous
                 ? access.bytes * static_cast<double>(lanes->trips) / machine_.vector_bytes
                 : static_cast<double>(lanes->trips);
      if (is_contiguous && !is_packed(a) && (is_staged || crosses_lines(access, lanes->loop)))
        each *= 1 + machine_.vector_bytes / machine_.line;
      if (!access.is_write) sum.held += std::min(times, 8.0);
    }
    sum.loads += times * std::max(each, 1.0) * (access.is_write ? 2 : 1);
    if (!access.is_masked || lies_together(a)) return;
    const bool has_lanes = lanes != nullptr && access.changes_with(lanes->loop);
    if (has_lanes) {
      sum.arithmetic += mask_of_lanes + mask * times;
    } else {
      sum.arithmetic += times;  // put into all lanes
      sum.others += 3 * times;
    }
  }

  // In each trip of the innermost loop, of those that are run in it. What stays over trips is computed before them,
  // and what copies or lanes have in common once.
  double arithmetic(const std::vector<NestOps>& ops, bool in_sums) const {
    double instructions = 0;
    for (const NestOps& each : ops) {
      double times = each.instructions;
      bool stays = true;
      for (std::size_t i = pieces(); i-- > 0;) {
        const Piece& p = piece(i);
        if (p.trips == 1) continue;
        const auto trips = static_cast<double>(p.trips);
        const bool changes = each.changes[p.loop];
        if (p.kind == LoopKind::Vector) {
          if (changes) times *= std::max(1.0, vectors_wide());
        } else if (p.kind == LoopKind::Upcast) {
          if (changes) times *= trips;
        } else if (in_sums || !nest_.loops[p.loop].is_reduce) {
          stays = stays && !changes;
          if (stays) times /= trips;
        }
      }
      instructions += times;
    }
    return instructions;
  }

  // That run together, each of which adds up as many values.
  double sums_together() const {
    for (const NestLoop& loop : nest_.loops)
      if (loop.is_reduce) return static_cast<double>(loop.names.size());
    return 1;
  }

  // The loop that runs inside of all others.
  const Piece* innermost() const {
    for (std::size_t i = loop_pieces_; i-- > 0;)
      if (piece(i).trips > 1) return &piece(i);
    return nullptr;
  }

  // Copies of what is summed are added to one sum, but for those that have factors of their own, such as scales of blocks.
  double sums_of_copies() const {
    double sums = 1;
    const Piece* run = innermost();
    if (run == nullptr || !nest_.loops[run->loop].is_reduce) return sums;
    for (std::size_t i = loop_pieces_; i < pieces(); ++i) {
      const auto is_factor = [&](const NestAccess& access) {
        return changes(access, i) && !access.changes_with(run->loop);
      };
      if (piece(i).kind == LoopKind::Upcast && nest_.loops[piece(i).loop].is_reduce &&
          std::ranges::any_of(nest_.accesses, is_factor))
        sums *= static_cast<double>(piece(i).trips);
    }
    return sums;
  }

  double compute_cycles() const {
    double sums = 1, outside = 1, outputs = 1, passes = 1;
    bool sums_lanes = false;
    for (const Piece& p : plan_.pieces) {
      const bool is_reduce = nest_.loops[p.loop].is_reduce;
      if (p.kind == LoopKind::Upcast && !is_reduce) sums *= static_cast<double>(p.trips);
      if (!in_registers(p)) {
        outside *= static_cast<double>(p.trips);
        if (!is_reduce) {
          outputs *= static_cast<double>(p.trips);
          passes = outside;
        }
      }
      sums_lanes = sums_lanes || (p.kind == LoopKind::Vector && is_reduce);
    }
    const double width = std::max(1.0, vectors_wide());
    Instructions inner, outer;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) count(a, is_inner_[a] ? inner : outer);
    inner.arithmetic += arithmetic(nest_.inner_ops, true);
    outer.arithmetic += arithmetic(nest_.outer_ops, false) + (sums_lanes ? 12 * sums : 0);
    if (sums_in_memory()) inner.loads += 3 * sums * width;
    const bool has_chain = nest_.has_reduce() && !sums_in_memory();
    const double added = sums * sums_together() * sums_of_copies();
    double cycles = outside * cycles_of(inner, has_chain ? added * width : 0);
    if (!nest_.has_reduce()) return cycles;
    cycles += outputs * (cycles_of(outer, 0) + added * width + 10);
    if (!has_chain) return cycles;
    // Sums in parts come from memory and go there, once their lanes are added.
    return cycles + (passes - outputs) * (added * (sums_lanes ? lanes_summed : 2 * width) + 10);
  }

  // What stands in the lanes, in registers.
  double vectors_wide() const {
    if (vector() == nullptr) return 0;
    const double lanes = static_cast<double>(vector()->trips);
    return lanes * static_cast<double>(nest_.loops[vector()->loop].widest) / machine_.vector_bytes;
  }

  double cycles_of(const Instructions& code, double accumulators) const {
    const double rate = vectors_wide() <= 0.5 ? machine_.halves : 1;
    const double ports = code.arithmetic / (machine_.fma_ports * rate);
    const double loads = code.loads / (machine_.load_ports * rate) + code.gathers / rate;
    const double all =
        (code.arithmetic + code.others + code.loads + 2 * code.gathers + 3) / machine_.issue;
    double cycles = std::max(1.0, hindering({ports, loads, all})) + code.lines * machine_.line_miss;
    if (accumulators > 0) cycles = std::max(cycles, machine_.fma_latency);
    const double needed = accumulators + code.turned + std::min(code.held, 4.0) + 1;
    const double more = std::max(0.0, needed - machine_.registers);
    if (more > 0 && accumulators > 0) cycles = std::max(cycles, machine_.fma_latency + forwarded);
    return cycles + more * spilled;
  }

  // What is staged is read and written once for each trip of the loops that it stands in.
  // Elements that lie together, of those that the pieces behind one copy for each lane; those that may be
  // missing are copied one by one.
  std::int64_t row_of(const NestAccess& access, std::size_t at) const {
    std::int64_t row = 1;
    if (access.is_masked) return row;
    for (std::size_t i = pieces(); --i > at;)
      if (const Piece& p = piece(i); p.kind != LoopKind::Vector && !access.irregular[p.loop] &&
                                     access.stride(p.loop) * p.step == row)
        row *= p.trips;
    return row;
  }

  // Of each element of a region, whose rows have ends.
  static double along_rows(double row, double lanes) { return std::max(4 / lanes, 1.5 / row); }

  // It takes memory, which only a gain of time is worth.
  double price_of_kept() const {
    double bytes = 0;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a)
      if (plan_.is_kept(a))
        bytes += staged_elements(nest_.accesses[a], plan_, a, 0) * nest_.accesses[a].bytes;
    return machine_.levels.empty() ? 0 : kept_price * bytes / machine_.levels.back().bandwidth;
  }

  double copy_cycles() const {
    double cycles = 0;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      if (plan_.staged[a] < 0) continue;
      const NestAccess& access = nest_.accesses[a];
      const auto at = static_cast<std::size_t>(plan_.staged[a]);
      double fills = 1, trips = 1;
      double parts = 0;  // vectors that are read for each
      bool is_contiguous = false;
      for (std::size_t i = 0; i < pieces(); ++i) {
        trips *= static_cast<double>(piece(i).trips);
        if (!changes(access, i)) continue;
        if (i <= at) fills = trips;
        if (i <= at || access.irregular[piece(i).loop]) continue;
        if (piece(i).kind != LoopKind::Vector) continue;
        is_contiguous = access.stride(piece(i).loop) * piece(i).step == 1;
        if (reads_between(access.stride(piece(i).loop), piece(i).trips))
          parts = static_cast<double>(access.stride(piece(i).loop));
      }
      const double elements = staged_elements(access, plan_, a, at + 1);
      const double lanes = machine_.vector_bytes / access.bytes;
      const double each = is_contiguous ? 2 / lanes
                          : parts > 0   ? (1 + (access.is_masked ? 3 : 2) * parts) / lanes
                          : plan_.by_region[a]
                              ? along_rows(region_sizes(access, plan_, at + 1).back(), lanes)
                          : row_of(access, at) >= 4 ? 0.75
                                                    : 1.5;
      // What is filled in the copies of a loop in registers counts as filled around them.
      const Footprint& source = footprints_.of_memory(std::min(at + 1, loop_pieces_), a);
      // A region is read along its rows, which are followed, and so are long ones that are turned.
      const double row = static_cast<double>(row_of(access, at)) * access.bytes;
      const double missed = plan_.by_region[a]     ? 0
                            : row >= scattered_run ? source.lines * machine_.line_miss / 4
                                                   : source.lines * machine_.line_miss;
      cycles += fills * (elements * each + missed + source.pages * machine_.page_miss);
    }
    return cycles;
  }

  const Machine& machine_;
  const Nest& nest_;
  const NestPlan& plan_;
  std::size_t loop_pieces_;
  Footprints footprints_;
  std::vector<bool> is_inner_;  // by access: it is there in the trips of the reduction
};

}  // namespace

// Of a row with zeros around it, in as many parts as lanes are apart: they are filled by whole lines.
static double filled_row(double elements, double parts, double bytes) {
  const double line = static_cast<double>(region_line) / bytes;
  return parts * std::ceil(std::ceil(elements / parts) / line) * line;
}

std::vector<double> region_sizes(const NestAccess& access, const NestPlan& plan,
                                 std::size_t first) {
  std::vector<double> sizes;
  for (const std::vector<std::int64_t>& step : access.step) {
    double extent = 1;
    std::int64_t apart = 1;
    for (std::size_t i = first; i < plan.pieces.size(); ++i) {
      const Piece& p = plan.pieces[i];
      extent += std::abs(static_cast<double>(step[p.loop] * p.step * (p.trips - 1)));
      if (p.kind == LoopKind::Vector && reads_between(step[p.loop], p.trips)) apart = step[p.loop];
    }
    const bool is_row = &step == &access.step.back() && access.is_masked;
    sizes.push_back(is_row ? filled_row(extent, static_cast<double>(apart), access.bytes) : extent);
  }
  return sizes;
}

double staged_elements(const NestAccess& access, const NestPlan& plan, std::size_t a,
                       std::size_t first) {
  double elements = 1;
  if (plan.by_region[a]) {
    for (const double size : region_sizes(access, plan, first)) elements *= size;
    return elements;
  }
  for (std::size_t i = first; i < plan.pieces.size(); ++i)
    if (access.changes_with(plan.pieces[i].loop))
      elements *= static_cast<double>(plan.pieces[i].trips);
  return elements;
}

bool Nest::has_reduce() const {
  return std::ranges::any_of(loops, [](const NestLoop& loop) { return loop.is_reduce; });
}

std::size_t Nest::around() const {
  return static_cast<std::size_t>(std::ranges::count_if(loops, &NestLoop::is_around));
}

double NestTime::total() const {
  return std::max(compute, memory) + 0.15 * std::min(compute, memory) + waits + copies + launch;
}

std::string NestTime::str() const {
  return fmt::format(
      "{:.2f} us: compute {:.2f}, memory {:.2f} (level {}), waits {:.2f}, copies {:.2f}, launch "
      "{:.2f}",
      total() * 1e6, compute * 1e6, memory * 1e6, slowest + 1, waits * 1e6, copies * 1e6,
      launch * 1e6);
}

NestTime time_of(const Machine& machine, const Nest& nest, const NestPlan& plan) {
  return Model(machine, nest, plan).time();
}

}  // namespace weft
