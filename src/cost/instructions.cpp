#include "instructions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <ranges>
#include <utility>
#include <vector>

#include "planned.h"

namespace weft {
namespace {

// Instructions for a mask of lanes, which copies share, and for its use in each copy.
constexpr double mask_of_lanes = 6, mask = 2;
constexpr double uniform_mask = 2;  // instructions for a condition that all lanes share
constexpr double lanes_summed = 8;  // cycles to add up the lanes of a vector
// Cycles of a spilled value per iteration, and the latency of reloading a spilled accumulator.
constexpr double spilled = 1.5, reload_latency = 8;

// Returns the time of work that runs in parallel: that of the longest, and more if others take
// nearly as long.
double overlapped(std::initializer_list<double> cycles) {
  double sum = 0;
  for (const double each : cycles) sum += each * each * each * each;
  return std::sqrt(std::sqrt(sum));
}

class ComputeModel : Planned {
 public:
  using Planned::Planned;

  double compute_cycles() const {
    double sums = 1, outside = 1, outputs = 1, passes = 1;
    bool sums_lanes = false;
    for (std::size_t i = 0; i < pieces(); ++i) {
      const LoopKind kind = piece(i).kind;
      if (kind == LoopKind::Upcast && !is_reduce(i)) sums *= iterations(i);
      if (!in_registers(piece(i))) {
        outside *= iterations(i);
        if (!is_reduce(i)) {
          outputs *= iterations(i);
          passes = outside;
        }
      }
      sums_lanes = sums_lanes || (kind == LoopKind::Vector && is_reduce(i));
    }
    const double width = std::max(1.0, registers_per_vector());
    Instructions inner, outer;
    for (std::size_t a = 0; a < nest_.accesses.size(); ++a)
      count(a, in_reduction_[a] ? inner : outer);
    inner.arithmetic += arithmetic(nest_.inner_ops, true);
    outer.arithmetic += arithmetic(nest_.outer_ops, false) + (sums_lanes ? 12 * sums : 0);
    if (sums_in_memory()) inner.loads += 3 * sums * width;
    const bool has_chain = nest_.has_reduce() && !sums_in_memory();
    const double added = sums * reductions_together() * sums_of_copies();
    double cycles = outside * cycles_of(inner, has_chain ? added * width : 0);
    if (!nest_.has_reduce()) return cycles;
    cycles += outputs * (cycles_of(outer, 0) + added * width + 10);
    if (!has_chain) return cycles;
    // Partial sums are loaded from memory and, once their lanes are added up, stored there.
    return cycles + (passes - outputs) * (added * (sums_lanes ? lanes_summed : 2 * width) + 10);
  }

 private:
  // Whether the innermost loop is an output loop inside a reduction, so that sums are in memory.
  bool sums_in_memory() const {
    if (loop_pieces_ == 0) return false;
    const std::size_t last = loop_pieces_ - 1;
    if (is_reduce(last) || piece(last).iterations <= 1) return false;
    return std::ranges::any_of(std::views::iota(std::size_t{0}, last),
                               [&](std::size_t i) { return is_reduce(i); });
  }

  // The instructions of one iteration of the innermost loop, with all pieces in registers.
  struct Instructions {
    double arithmetic = 0, loads = 0, gathers = 0, held = 0;
    double others = 0;  // use none of these ports
    double lines = 0;   // misses that the prefetcher does not hide
    double turned = 0;  // registers of transposed vectors
  };

  // Returns how many accesses the copies of one iteration make. Copies that read the same element
  // share the read. Stores and packed or irregular accesses share nothing.
  double distinct_accesses(std::size_t a) const {
    const NestAccess& access = nest_.accesses[a];
    double copies = access.places;
    std::vector<std::pair<std::int64_t, std::int64_t>> regular;  // stride and number of copies
    for (std::size_t i = loop_pieces_; i < pieces(); ++i) {
      const Piece& p = piece(i);
      if (p.kind != LoopKind::Upcast || !changes(access, i)) continue;
      const std::int64_t stride = std::abs(access.stride(p.loop)) * p.step;
      if (access.is_write || is_packed(a) || access.irregular[p.loop] || stride == 0)
        copies *= static_cast<double>(p.iterations);
      else
        regular.emplace_back(stride, p.iterations);
    }
    std::ranges::sort(regular);
    std::int64_t row = 1, step = 0;  // distinct elements, and the stride between them
    for (const auto& [stride, iterations] : regular) {
      if (step > 0 && stride % step == 0 && stride / step <= row) {
        row += stride / step * (iterations - 1);
      } else {
        copies *= static_cast<double>(row);
        row = iterations, step = stride;
      }
    }
    return copies * static_cast<double>(row);
  }

  // Whether vectors straddle two lines, because rows begin anywhere in a line.
  bool crosses_lines(const NestAccess& access, std::size_t lanes) const {
    for (std::size_t loop = 0; loop < nest_.loops.size(); ++loop) {
      const double step = static_cast<double>(access.stride(loop)) * access.bytes;
      if (loop != lanes && std::fmod(step, machine_.vector_bytes) != 0) return true;
    }
    return false;
  }

  // Returns how many neighbouring elements copies read at once for each strided lane. They must be
  // valid under one condition.
  std::int64_t transpose_width(const NestAccess& access, const Piece& lanes) const {
    const auto is_alike = [&](std::size_t loop) {
      return !access.irregular[loop] && !(access.is_masked && access.guarded[loop]);
    };
    if (access.is_write || !is_alike(lanes.loop)) return 1;
    std::int64_t neighbours = 1;
    for (const Piece& p : plan_.pieces)
      if (p.kind == LoopKind::Upcast && p.step == 1 && is_alike(p.loop) &&
          access.stride(p.loop) == 1)
        neighbours = p.iterations;
    return weft::transpose_width(neighbours, lanes.iterations,
                                 static_cast<std::size_t>(access.bytes));
  }

  // Whether the next iteration reads adjacent elements, in few enough rows for the prefetcher.
  bool is_prefetched(const NestAccess& access) const {
    if (loop_pieces_ == 0 || std::abs(access.stride(piece(loop_pieces_ - 1).loop)) != 1)
      return false;
    const double rows = iterations_where([&](std::size_t i) {
      return i >= loop_pieces_ && changes(access, i) && std::abs(access.stride(piece(i).loop)) != 1;
    });
    return rows <= machine_.streams;
  }

  // Counts a transposed read: a row load per lane, joins of rows to vectors, and interleaving.
  static void count_transposed(double blocks, std::int64_t rows, std::int64_t width,
                               Instructions& sum) {
    const int steps = std::bit_width(static_cast<std::uint64_t>(width)) - 1;
    sum.loads += blocks * static_cast<double>(rows);
    sum.arithmetic += blocks * static_cast<double>(rows - width + width * steps);
  }

  // Counts a read of lanes with a short stride: as many loads, shuffles and masks as the stride.
  static void count_short_stride(double vectors, const NestAccess& access, std::int64_t stride,
                                 Instructions& sum) {
    const double parts = std::max(vectors, 1.0) * static_cast<double>(stride);
    sum.loads += parts;
    sum.arithmetic += parts;
    if (access.is_masked) sum.arithmetic += mask_of_lanes * static_cast<double>(stride) + parts;
  }

  // Whether all lanes access one element, though perhaps under a condition for each lane.
  static bool is_one_for_lanes(const NestAccess& access, const Piece& lanes) {
    return access.stride(lanes.loop) == 0 && !access.irregular[lanes.loop];
  }

  // Whether copies store the elements between strided lanes, so that the stores are interleaved.
  bool interleaves_stores(const NestAccess& access, std::int64_t stride) const {
    return !access.is_masked && (stride == 2 || stride == 4) &&
           std::ranges::any_of(plan_.pieces, [&](const Piece& p) {
             return p.kind == LoopKind::Upcast && p.step == 1 && p.iterations == stride &&
                    !access.irregular[p.loop] && access.stride(p.loop) == 1;
           });
  }

  // Counts the interleaving steps of such stores, and the contiguous stores.
  void count_interleaved(double copies, double bytes, std::int64_t stride,
                         Instructions& sum) const {
    const int steps = std::bit_width(static_cast<std::uint64_t>(stride)) - 1;
    const double vectors = copies * bytes / machine_.vector_bytes;
    sum.arithmetic += std::max(copies, vectors) * steps;
    sum.loads += 2 * std::max(vectors, 1.0);
  }

  // Counts the instructions of one access per iteration, and the registers that hold its values.
  void count(std::size_t a, Instructions& sum) const {
    const NestAccess& access = nest_.accesses[a];
    const double times = distinct_accesses(a);
    const Piece* lanes = vector();
    const bool has_lanes = lanes != nullptr && access.changes_with(lanes->loop);
    const double lane_count = has_lanes ? static_cast<double>(lanes->iterations) : 1;
    double each = 1;
    bool is_apart = false;
    if (has_lanes && !is_one_for_lanes(access, *lanes)) {
      const std::int64_t stride = access.irregular[lanes->loop] ? 0 : access.stride(lanes->loop);
      const bool is_short = has_short_stride(stride, lanes->iterations), is_staged = reads_copy(a);
      const bool is_contiguous = stride == 1 || is_packed(a) || (is_staged && is_short);
      if (access.is_write && interleaves_stores(access, stride))
        return count_interleaved(times, lane_count * access.bytes, stride, sum);
      if (!is_contiguous && !access.is_write && is_short)
        return count_short_stride(times * registers_per_vector(), access, stride, sum);
      const std::int64_t width = is_contiguous ? 1 : transpose_width(access, *lanes);
      if (width > 1) {
        const double bytes = times * lane_count * access.bytes;
        const double blocks = times / static_cast<double>(width);
        if (!is_prefetched(access)) sum.lines += bytes / machine_.line;
        sum.turned += bytes / machine_.vector_bytes;
        if (access.is_masked) sum.others += uniform_mask * blocks * lane_count;
        return count_transposed(blocks, lanes->iterations, width, sum);
      }
      is_apart = !is_contiguous;
      if (is_apart) sum.gathers += times * lane_count;
      // The lines of stores a page or more apart leave the cache before they are filled.
      if (access.is_write && static_cast<double>(std::abs(stride)) * access.bytes >= machine_.page)
        sum.lines += times * lane_count;
      each = is_contiguous ? access.bytes * lane_count / machine_.vector_bytes : lane_count;
      if (is_contiguous && !is_packed(a) && (is_staged || crosses_lines(access, lanes->loop)))
        each *= 1 + machine_.vector_bytes / machine_.line;
      if (!access.is_write) sum.held += std::min(times, 8.0);
    }
    sum.loads += times * std::max(each, 1.0) * (access.is_write ? 2 : 1);
    if (!access.is_masked || reads_copy(a)) return;
    if (has_lanes && !access.guarded[lanes->loop]) {
      sum.others += uniform_mask * times * (is_apart ? lane_count : 1);
    } else if (has_lanes) {
      sum.arithmetic += mask_of_lanes + mask * times;
    } else {
      sum.arithmetic += times;  // broadcast to all lanes
      sum.others += 3 * times;
    }
  }

  // Returns the instructions per iteration of the innermost loop. Invariant instructions are
  // hoisted out of inner loops, and executed once for copies or lanes that share them.
  double arithmetic(const std::vector<NestOps>& ops, bool in_sums) const {
    double instructions = 0;
    for (const NestOps& each : ops) {
      double times = each.instructions;
      bool stays = true;
      for (std::size_t i = pieces(); i-- > 0;) {
        const Piece& p = piece(i);
        if (p.iterations == 1) continue;
        const bool changes = each.changes[p.loop];
        if (p.kind == LoopKind::Vector) {
          if (changes) times *= std::max(1.0, registers_per_vector());
        } else if (p.kind == LoopKind::Upcast) {
          if (changes) times *= iterations(i);
        } else if (in_sums || !is_reduce(i)) {
          stays = stays && !changes;
          if (stays) times /= iterations(i);
        }
      }
      instructions += times;
    }
    return instructions;
  }

  // Returns how many reductions run together. Each has its own accumulators.
  double reductions_together() const {
    for (const NestLoop& loop : nest_.loops)
      if (loop.is_reduce) return static_cast<double>(loop.names.size());
    return 1;
  }

  // Returns the innermost loop outside registers.
  const Piece* innermost() const {
    for (std::size_t i = loop_pieces_; i-- > 0;)
      if (piece(i).iterations > 1) return &piece(i);
    return nullptr;
  }

  // Returns how many accumulators the unrolled iterations of a reduction need per value. They share
  // one, unless they have invariant factors of their own, such as the scales of blocks.
  double sums_of_copies() const {
    const Piece* run = innermost();
    if (run == nullptr || !nest_.loops[run->loop].is_reduce) return 1;
    return iterations_where([&](std::size_t i) {
      const auto is_factor = [&](const NestAccess& access) {
        return changes(access, i) && !access.changes_with(run->loop);
      };
      return piece(i).kind == LoopKind::Upcast && is_reduce(i) &&
             std::ranges::any_of(nest_.accesses, is_factor);
    });
  }

  double cycles_of(const Instructions& code, double accumulators) const {
    const double rate = registers_per_vector() <= 0.5 ? machine_.halves : 1;
    const double ports = code.arithmetic / (machine_.fma_ports * rate);
    const double loads = code.loads / (machine_.load_ports * rate) + code.gathers / rate;
    const double all =
        (code.arithmetic + code.others + code.loads + 2 * code.gathers + 3) / machine_.issue;
    double cycles =
        std::max(1.0, overlapped({ports, loads, all})) + code.lines * machine_.line_miss;
    if (accumulators > 0) cycles = std::max(cycles, machine_.fma_latency);
    const double needed = accumulators + code.turned + std::min(code.held, 4.0) + 1;
    const double more = std::max(0.0, needed - machine_.registers);
    if (more > 0 && accumulators > 0)
      cycles = std::max(cycles, machine_.fma_latency + reload_latency);
    return cycles + more * spilled;
  }
};

}  // namespace

double compute_cycles(const DeviceModel& machine, const Nest& nest, const NestPlan& plan) {
  return ComputeModel(machine, nest, plan).compute_cycles();
}

}  // namespace weft
