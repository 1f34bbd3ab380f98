// The time of a loop nest: that of its instructions, and the traffic of each cache level.

#include <weft/dev/cost/nest.h>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "copies.h"
#include "footprint.h"
#include "group_time.h"
#include "instructions.h"
#include "planned.h"
#include "traffic.h"

namespace weft {
namespace {

// The most that waits for scattered lines take, as a part of compute: later iterations overlap.
constexpr double most_waiting = 0.35;

double threads_of(const NestPlan& plan) {
  double count = 1;
  for (const Piece& piece : plan.pieces)
    if (piece.kind == LoopKind::Thread) count *= static_cast<double>(piece.iterations);
  return count;
}

double effective_workers(const DeviceModel& machine, const NestPlan& plan) {
  const double count = threads_of(plan), workers = machine.workers();
  return count <= 1 ? 1 : count / std::ceil(count / workers);
}

// Adds the time of the slowest cache level and the waits.
void add_memory(const DeviceModel& machine, const std::vector<Traffic>& traffic, double workers,
                NestTime& time) {
  double starts = 0;
  for (std::size_t level = 0; level < machine.memory.size(); ++level) {
    const MemorySpace& cache = machine.memory[level];
    const Traffic& lines = traffic[level];
    const double line = machine.line / cache.bandwidth;
    const double seconds = lines.all * line / (cache.is_shared ? 1 : workers);
    time.waits += lines.scattered * line * scattered_wait / workers;
    starts += lines.waiting * line / workers;
    if (seconds > time.memory) {
      time.memory = seconds;
      time.slowest = level;
    }
  }
  time.waits = std::min(time.waits, most_waiting * time.compute) + starts;
}

}  // namespace

// Returns the padded length of a row of a region with zeros, stored in as many parts as the stride
// of its lanes.
static double filled_row(double elements, double parts, double bytes) {
  const auto part = static_cast<std::int64_t>(std::ceil(elements / parts));
  return parts * static_cast<double>(region_row(part, static_cast<std::int64_t>(bytes)));
}

std::vector<double> region_sizes(const NestAccess& access, const NestPlan& plan,
                                 std::size_t first) {
  std::vector<double> sizes;
  for (const std::vector<std::int64_t>& step : access.step) {
    double extent = 1;
    std::int64_t apart = 1;
    for (std::size_t i = first; i < plan.pieces.size(); ++i) {
      const Piece& p = plan.pieces[i];
      extent += std::abs(static_cast<double>(step[p.loop] * p.step * (p.iterations - 1)));
      if (p.kind == LoopKind::Vector && has_short_stride(step[p.loop], p.iterations))
        apart = step[p.loop];
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
      elements *= static_cast<double>(plan.pieces[i].iterations);
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

double instruction_time(const DeviceModel& machine, const Nest& nest, const NestPlan& plan) {
  return compute_cycles(machine, nest, plan) / machine.hertz;
}

NestTime time_of(const DeviceModel& machine, const Nest& nest, const NestPlan& plan) {
  if (machine.has_groups()) return group_time(machine, nest, plan);
  const Footprints footprints(machine, nest, plan, loop_pieces(plan));
  const double workers = effective_workers(machine, plan), cycle = 1 / machine.hertz / workers;
  NestTime time;
  time.launch = threads_of(plan) > 1 ? machine.launch() : 0;
  time.compute =
      (compute_cycles(machine, nest, plan) + page_cycles(machine, nest, plan, footprints)) * cycle;
  time.copies =
      copy_cycles(machine, nest, plan, footprints) * cycle + prepack_cost(machine, nest, plan);
  add_memory(machine, traffic_of(machine, nest, plan, footprints), workers, time);
  return time;
}

}  // namespace weft
