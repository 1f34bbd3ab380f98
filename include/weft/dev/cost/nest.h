// The cost model of a loop nest. A nest describes a kernel by its loops, accesses and instruction
// counts. Schedules are tried on it without rewriting the kernel.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/dev/device/device_model.h>
#include <weft/dev/ir/uop.h>

namespace weft {

struct NestLoop {
  std::vector<std::string> names;  // several for reductions of equal size that run together
  std::int64_t size = 1;
  bool is_reduce = false;
  bool has_others = false;  // other nests run in each of its iterations
  bool is_fixed = false;    // other nests fill memory in each of its iterations
  bool is_around = false;   // an enclosing loop, which a schedule of the nest cannot change
  bool is_cut = false;      // an enclosing loop that threads will share in chunks
  std::size_t widest = 1;   // bytes of the widest value that depends on it
};

// Whether neighbouring outputs read overlapping windows of an access, as a convolution does. The
// same elements may also be read by outputs along other loops (Shared).
enum class Overlap : std::uint8_t { None, Own, Shared };

// A read or write in the loops of a nest, with an index for each dimension of the buffer.
struct NestAccess {
  std::string name;  // by which a STAGE names a read; empty: it cannot be staged
  const Node* storage = nullptr;
  bool is_write = false, is_masked = false;
  bool is_index = false;                        // indices of another access are read here
  bool is_constant = false;                     // reads the same constants in each run
  double bytes = 4;                             // bytes per element
  std::vector<std::int64_t> sizes;              // sizes of the buffer's dimensions
  std::vector<std::vector<std::int64_t>> step;  // by dimension and loop: stride of the index
  std::vector<bool> irregular;                  // by loop: the index depends on it nonlinearly
  std::vector<bool> guarded;                    // by loop: the validity depends on it
  std::vector<std::int64_t> strides;            // by loop: in elements of the buffer
  Overlap overlap = Overlap::None;
  double places = 1;                      // accesses at fixed distances that count as one
  std::vector<std::int64_t> first, last;  // by dimension: their least and greatest offset

  std::int64_t stride(std::size_t loop) const { return strides[loop]; }
  bool changes_with(std::size_t loop) const {
    return strides[loop] != 0 || irregular[loop] || guarded[loop];
  }
};

// Returns the bytes of the whole buffer.
inline double bytes_of(const NestAccess& access) {
  double bytes = access.bytes;
  for (const std::int64_t size : access.sizes) bytes *= static_cast<double>(size);
  return bytes;
}

// Simple instructions that depend on the same loops. They are invariant in all others.
struct NestOps {
  std::vector<bool> changes;  // by loop
  double instructions = 0;
  friend bool operator==(const NestOps&, const NestOps&) = default;
};

struct Nest {
  std::vector<NestLoop> loops;
  std::vector<NestAccess> accesses;
  std::vector<NestOps> inner_ops;  // per iteration of the reduction; without one, per element
  std::vector<NestOps> outer_ops;  // per element, after the reduction
  std::size_t sum_bytes = 0;       // of an element's reductions, where partial results are kept
  bool has_reduce() const;
  std::size_t around() const;  // number of enclosing loops, which come first
};

// A loop that a schedule makes of some iterations of a loop of the nest.
struct Piece {
  std::size_t loop = 0;
  std::int64_t iterations = 1, step = 1;  // step: iterations of the nest's loop per iteration
  LoopKind kind = LoopKind::Loop;
};

// A schedule in terms of the model.
struct NestPlan {
  std::vector<Piece> pieces;    // outermost first; those in registers last
  std::vector<int> staged;      // by access: the piece in whose iterations it is staged; -1: none
  std::vector<bool> by_region;  // by access: the STAGE has the dimensions of the buffer
  // By access: it is prepacked in loop order before the kernel runs. May be empty.
  std::vector<bool> kept;
  // By access: it is staged in memory that a work-group shares, in so many buffers. May be empty.
  std::vector<int> buffers;
  bool is_shared(std::size_t a) const { return a < buffers.size() && buffers[a] > 0; }
  bool is_kept(std::size_t a) const { return a < kept.size() && kept[a]; }
};

struct NestTime {
  double compute = 0, memory = 0, waits = 0, copies = 0, launch = 0;
  std::size_t slowest = 0;  // the cache level that determines `memory`
  double total() const;
  std::string str() const;
};

// Returns how many neighbouring elements a transposed read of strided lanes loads at once for each
// lane. The neighbours are what copies read. All processors with vectors interleave within 16 bytes
// in one instruction.
constexpr std::int64_t transpose_width(std::int64_t neighbours, std::int64_t lanes,
                                       std::size_t bytes) {
  const std::int64_t most = std::max<std::int64_t>(1, 16 / static_cast<std::int64_t>(bytes));
  const auto least = static_cast<std::uint64_t>(std::min({neighbours, lanes, most}));
  return static_cast<std::int64_t>(std::bit_floor(least));
}

// Whether strided lanes are read as contiguous vectors, as many as the stride, from which the lanes
// are shuffled out.
constexpr bool has_short_stride(std::int64_t stride, std::int64_t lanes) {
  return stride >= 2 && stride <= 4 && lanes >= 4;
}

// Returns the padded length of a row of a region with zeros, in elements. Rows are whole cache
// lines, or whole vectors of 16 bytes for types that most processors cannot mask.
constexpr std::int64_t region_row(std::int64_t elements, std::int64_t bytes) {
  constexpr std::int64_t line = 64, vector = 16, narrowest_mask = 4;
  const std::int64_t whole = (bytes < narrowest_mask ? vector : line) / bytes;
  return (elements + whole - 1) / whole * whole;
}

// Returns the size in each dimension of a STAGE by region that holds what the pieces from `first`
// on read.
std::vector<double> region_sizes(const NestAccess& access, const NestPlan& plan, std::size_t first);
// Returns the number of elements of a STAGE of access `a`, by region or packed, that holds what the
// pieces from `first` on read.
double staged_elements(const NestAccess& access, const NestPlan& plan, std::size_t a,
                       std::size_t first);

NestTime time_of(const DeviceModel& machine, const Nest& nest, const NestPlan& plan);
// Returns the time of the instructions of one thread. The total is no less, and takes ten times as
// long to find.
double instruction_time(const DeviceModel& machine, const Nest& nest, const NestPlan& plan);

}  // namespace weft
