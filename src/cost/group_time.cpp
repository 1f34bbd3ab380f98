#include "group_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "footprint.h"
#include "planned.h"

namespace weft {
namespace {

constexpr double registers_for_addresses = 24;
constexpr double cycles_of_barrier = 30;
constexpr double address_instructions = 0.5;  // for each load or store
constexpr double loop_instructions = 3;       // for each iteration of the innermost loop
constexpr double cached = 0.5;                // of a cache, by what is read again
constexpr double l1_share = 0.25;             // of shared memory that serves as first cache

double ceil_div(double a, double b) { return std::ceil(a / b); }

class GroupTime : Planned {
 public:
  GroupTime(const DeviceModel& model, const Nest& nest, const NestPlan& plan)
      : Planned(model, nest, plan),
        limits_(model.groups),
        unstaged_(unstaged(plan)),
        footprints_(model, nest, unstaged_, loop_pieces_) {
    groups_ = iterations_where([&](std::size_t i) { return piece(i).kind == LoopKind::Global; });
    items_ = iterations_where([&](std::size_t i) { return piece(i).kind == LoopKind::Local; });
    sums_ = iterations_where([&](std::size_t i) { return is_in_registers(i) && !is_reduce(i); });
    for (const NestLoop& loop : nest.loops)
      words_ = std::max(words_, static_cast<double>(loop.widest) / 4);
    resident_ = resident_groups();
  }

  NestTime time() const {
    NestTime time;
    if (resident_ < 1) {
      time.compute = std::numeric_limits<double>::infinity();
      return time;
    }
    const auto units = static_cast<double>(machine_.parallel[0].units);
    const double on_unit = ceil_div(groups_, units);  // groups that one multiprocessor runs
    const double beside = std::min(on_unit, resident_);
    const double cycle = 1 / machine_.hertz;
    const double issued = on_unit * warps() *
                          std::max(arithmetic() / machine_.fma_ports,
                                   (arithmetic() + other_instructions()) / machine_.issue) /
                          busy(beside);
    const double shared = on_unit * first_level_bytes() / limits_.shared_bandwidth;
    const double waits = ceil_div(on_unit, beside) * waiting_cycles();
    time.launch = machine_.launch();
    time.compute = std::max(issued, shared) * cycle;
    time.waits = std::max(0.0, waits - std::max(issued, shared)) * cycle;
    add_memory(beside * units, time);
    return time;
  }

 private:
  // Returns how many groups a multiprocessor runs at the same time, by what each takes of it.
  double resident_groups() const {
    double registers = registers_for_addresses + sums_ * words_, shared = 0;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      if (!nest_.accesses[a].is_write) registers += in_registers_of(a) * words_;
      if (is_shared(a)) shared += staged_bytes(a) * buffers_of(a);
    }
    if (shared > limits_.shared_of_group || registers > limits_.registers_of_item ||
        items_ > static_cast<double>(machine_.parallel.back().most))
      return 0;
    const double items = warps() * lanes();
    const double resident =
        std::min({static_cast<double>(limits_.resident_groups),
                  std::floor(static_cast<double>(limits_.resident_items) / items),
                  std::floor(limits_.registers / (items * registers))});
    return shared > 0 ? std::min(resident, std::floor(limits_.shared_bytes / shared)) : resident;
  }

  double warps() const { return std::ceil(items_ / lanes()); }  // of a group
  double lanes() const { return static_cast<double>(limits_.lanes); }
  bool is_shared(std::size_t a) const { return plan_.is_shared(a); }
  double buffers_of(std::size_t a) const {
    return is_shared(a) ? static_cast<double>(plan_.buffers[a]) : 1;
  }
  bool is_in_registers(std::size_t i) const { return in_registers(piece(i)); }
  bool is_serial(std::size_t i) const { return !is_parallel(piece(i).kind) && !is_in_registers(i); }

  // Elements of an access that one iteration of the innermost loop uses.
  double in_registers_of(std::size_t a) const {
    const NestAccess& access = nest_.accesses[a];
    return access.places * iterations_where([&](std::size_t i) {
             return is_in_registers(i) && changes(access, i);
           });
  }

  // How often an item executes an access: it is hoisted out of loops that it does not change with,
  // unless it changes with a loop inside of them.
  double executions(std::size_t a) const {
    double count = 1, outside = 1;
    for (std::size_t i = 0; i < pieces(); ++i) {
      if (!is_serial(i)) continue;
      outside *= iterations_of(i, a);
      if (changes(nest_.accesses[a], i)) count = outside;
    }
    return count;
  }

  // All elements that a STAGE holds: work-items fill it together.
  double staged_bytes(std::size_t a) const {
    const NestAccess& access = nest_.accesses[a];
    NestPlan inside = plan_;
    double bytes = access.bytes;
    if (plan_.by_region[a]) {
      // The region that all items read in one iteration of the loop around.
      for (std::size_t i = 0; i < pieces(); ++i)
        if (!is_inside_stage(a, i)) inside.pieces[i].iterations = 1;
      for (const double size : region_sizes(access, inside, 0)) bytes *= size;
      return bytes;
    }
    return bytes * iterations_where(
                       [&](std::size_t i) { return is_inside_stage(a, i) && changes(access, i); });
  }
  bool is_inside_stage(std::size_t a, std::size_t i) const {
    return piece(i).kind == LoopKind::Local ||
           (static_cast<int>(i) > plan_.staged[a] && piece(i).kind != LoopKind::Global);
  }
  // How often it is filled.
  double fills(std::size_t a) const {
    return iterations_where(
        [&](std::size_t i) { return static_cast<int>(i) <= plan_.staged[a] && is_serial(i); });
  }

  // Instructions of one work-item.
  double arithmetic() const {
    double count = 0;
    for (const auto* ops : {&nest_.inner_ops, &nest_.outer_ops})
      for (const NestOps& each : *ops) count += each.instructions * times(each, ops);
    return count;
  }
  double other_instructions() const {
    double count =
        loop_instructions * iterations_where([&](std::size_t i) { return is_serial(i); }) +
        shared_reductions();
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      count += in_registers_of(a) * executions(a) * (1 + address_instructions);
      if (is_shared(a))
        count += fills(a) * staged_bytes(a) / nest_.accesses[a].bytes / items_ *
                 (2 + address_instructions);
    }
    return count;
  }
  // Work-items that share a reduction put their parts into shared memory, and each adds all of them.
  double shared_reductions() const {
    double count = 0;
    for (std::size_t i = 0; i < pieces(); ++i)
      if (piece(i).kind == LoopKind::Local && is_reduce(i)) count += sums_ * 2 * iterations(i);
    return count;
  }
  // Loop-invariant operations are hoisted.
  double times(const NestOps& ops, const std::vector<NestOps>* list) const {
    double count = 1, outside = 1;
    for (std::size_t i = 0; i < pieces(); ++i) {
      const bool is_around = list == &nest_.inner_ops || !is_reduce(i);
      const bool changes = ops.changes[piece(i).loop];
      if (!is_around || is_parallel(piece(i).kind)) continue;
      if (is_in_registers(i)) {
        if (changes) count *= iterations(i);
        continue;
      }
      outside *= iterations(i);
      if (changes) count *= std::exchange(outside, 1);
    }
    return count;
  }

  // The part of the cycles in which a multiprocessor has something to issue: too few warps, with too
  // few independent sums, do not hide the latency of each instruction.
  double busy(double beside) const {
    return std::min(1.0, beside * warps() * sums_ / (machine_.fma_ports * machine_.fma_latency));
  }

  // Where an access moves from one work-item of a warp to the next, by the loops of the items,
  // the innermost of which changes fastest.
  struct Lanes {
    double units = 1;  // separate pieces of memory
    double run = 0;    // bytes of each
  };
  Lanes lanes_of(std::size_t a, double unit) const {
    const NestAccess& access = nest_.accesses[a];
    Lanes result{1, access.bytes};
    double left = lanes();
    for (std::size_t i = pieces(); i-- > 0 && left > 1;) {
      const Piece& p = piece(i);
      if (p.kind != LoopKind::Local) continue;
      const double count = std::min(left, iterations(i));
      left /= count;
      if (!changes(access, i)) continue;
      const double step =
          access.irregular[p.loop]
              ? unit
              : std::abs(static_cast<double>(access.stride(p.loop) * p.step)) * access.bytes;
      if (step >= unit && step > result.run)
        result.units *= count;
      else
        result.run += step * (count - 1);
    }
    return result;
  }
  // How many units of memory, such as lines, the loads and stores of a warp touch.
  double units_of_warp(std::size_t a, double unit) const {
    const Lanes lanes = lanes_of(a, unit);
    return lanes.units * ceil_div(lanes.run, unit);
  }

  // Bytes that a group moves through the first cache and shared memory, which are one: whole rows of
  // banks for each warp, as many as lie in different lines or meet in one bank.
  double first_level_bytes() const {
    double bytes = 0;
    const double row = 4 * static_cast<double>(limits_.banks);
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      const double requests = warps() * in_registers_of(a) * executions(a);
      bytes += requests * row * (is_shared(a) ? conflicts(a) : units_of_warp(a, row));
      if (is_shared(a)) bytes += fills(a) * staged_bytes(a) / nest_.accesses[a].bytes * 4;
    }
    return bytes;
  }
  // How many lanes of a warp need the same bank. The last of the items' loops is the last dimension
  // of what the search stages; a region has the dimensions of its memory.
  double conflicts(std::size_t a) const {
    const NestAccess& access = nest_.accesses[a];
    if (!plan_.by_region[a] || access.step.empty()) return 1;
    for (std::size_t i = pieces(); i-- > 0;)
      if (piece(i).kind == LoopKind::Local) {
        const auto step = std::abs(access.step.back()[piece(i).loop]) * piece(i).step;
        return step == 0 ? 1 : static_cast<double>(std::gcd(step, limits_.banks));
      }
    return 1;
  }

  // Cycles in which a group waits for memory: once for each fill, or for each iteration of the
  // innermost loop that loads. Pipelined fills are in flight while others are used.
  double waiting_cycles() const {
    double waits = 1, barriers = 0;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      if (nest_.accesses[a].is_write) continue;
      const double loads = is_shared(a) ? fills(a) / buffers_of(a) : executions(a) / in_flight;
      waits = std::max(waits, loads);
      if (is_shared(a)) barriers = std::max(barriers, 2 * fills(a));
    }
    return waits * limits_.latency + barriers * cycles_of_barrier;
  }
  static constexpr double in_flight = 4;  // iterations whose loads the hardware has under way

  // What moves through the last cache and from memory.
  void add_memory(double concurrent, NestTime& time) const {
    double through_cache = 0, from_memory = 0;
    const MemorySpace &first = machine_.memory.front(), &last = machine_.memory.back();
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a) {
      const double group = group_bytes(a), all = groups_ * group;
      through_cache += all;
      const double once = footprint_bytes(a, 0);
      from_memory += bytes_of(nest_.accesses[a]) <= cached * last.bytes
                         ? once
                         : std::max(once, all / sharing_groups(a, concurrent));
    }
    const double cache_seconds = through_cache / first.bandwidth;
    const double memory_seconds = from_memory / last.bandwidth;
    time.memory = std::max(cache_seconds, memory_seconds);
    time.slowest = memory_seconds >= cache_seconds ? machine_.memory.size() - 1 : 0;
  }

  // What a group moves for an access: each fill, or what its warps read unless the first cache has
  // it.
  double group_bytes(std::size_t a) const {
    if (is_shared(a)) return fills(a) * fill_bytes(a);
    const double by_warps = warps() * in_registers_of(a) * executions(a) *
                            (units_of_warp(a, limits_.sector) * limits_.sector);
    const double own = footprint_bytes(a, first_inside_group());
    const bool stays = own * resident_ <= l1_share * limits_.shared_bytes;
    return stays ? std::min(own, by_warps) : by_warps;
  }
  std::size_t first_inside_group() const {
    std::size_t first = 0;
    while (first < loop_pieces_ && piece(first).kind == LoopKind::Global) ++first;
    return first;
  }
  double footprint_bytes(std::size_t a, std::size_t first) const {
    return footprints_.of_memory(first, a).lines * machine_.line;
  }
  // With the loops that a fill goes through inside of all others.
  double fill_bytes(std::size_t a) const {
    NestPlan plan = unstaged_;
    plan.pieces.clear();
    std::size_t first = 0;
    for (const bool is_inside : {false, true}) {
      for (std::size_t i = 0; i < pieces(); ++i)
        if (is_inside_stage(a, i) == is_inside) plan.pieces.push_back(piece(i));
      if (!is_inside) first = std::min(plan.pieces.size(), loop_pieces_);
    }
    return Footprints(machine_, nest_, plan, first).of_memory(first, a).lines * machine_.line;
  }
  static NestPlan unstaged(NestPlan plan) {
    std::ranges::fill(plan.staged, -1);
    return plan;
  }

  // Groups that run at the same time and read the same: neighbours along loops that it does not
  // change with.
  double sharing_groups(std::size_t a, double concurrent) const {
    double sharing = 1;
    for (std::size_t i = first_inside_group(); i-- > 0 && concurrent > 1;) {
      const double count = std::min(concurrent, iterations(i));
      concurrent /= count;
      if (!changes(nest_.accesses[a], i)) sharing *= count;
    }
    return sharing;
  }

  const GroupLimits& limits_;
  NestPlan unstaged_;
  Footprints footprints_;  // as if nothing were staged
  double groups_ = 1, items_ = 1, sums_ = 1;
  double words_ = 1;     // registers of a value
  double resident_ = 0;  // groups that a multiprocessor runs at the same time; 0: not even one
};

}  // namespace

NestTime group_time(const DeviceModel& model, const Nest& nest, const NestPlan& plan) {
  return GroupTime(model, nest, plan).time();
}

}  // namespace weft
