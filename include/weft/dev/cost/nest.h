// A kernel as the model sees it: loops, what is read and written with them, and how much is computed.
// Schedules are tried on this, without touching the kernel.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <weft/dev/device/machine.h>
#include <weft/dev/ir/uop.h>

namespace weft {

struct NestLoop {
  std::vector<std::string> names;  // of reductions over as many iterations, which run together
  std::int64_t size = 1;
  bool is_reduce = false;
  bool has_others = false;  // other nests run in each of its iterations
  bool is_fixed = false;    // and fill memory in it
  bool is_around = false;   // the nest stands in it: it is not the nest's to change
  bool is_cut = false;      // and threads will share it in parts
  std::size_t widest = 1;   // bytes of a value that changes with it
};

// Elements that are read by several neighbouring outputs: by nobody else, or by outputs of other loops too.
enum class Window : std::uint8_t { None, Own, Shared };

// A place in memory that changes with the loops: an index for each dimension of the buffer.
struct NestAccess {
  std::string name;  // of a read; a STAGE can be asked for by it
  const Node* storage = nullptr;
  bool is_write = false, is_masked = false;
  bool is_index = false;                        // where another lies is read here
  bool is_constant = false;                     // nobody writes it while the program runs
  double bytes = 4;                             // of an element
  std::vector<std::int64_t> sizes;              // of the buffer's dimensions
  std::vector<std::vector<std::int64_t>> step;  // by dimension and loop: how the index grows
  std::vector<bool> irregular;                  // by loop: it changes in no such way
  std::vector<bool> guarded;                    // by loop: whether the place is valid changes
  std::vector<std::int64_t> strides;  // by loop: elements between one iteration and the next
  Window window = Window::None;
  double places = 1;                      // so many, at fixed distances
  std::vector<std::int64_t> first, last;  // by dimension, of those: what is added to the index

  std::int64_t stride(std::size_t loop) const { return strides[loop]; }
  bool changes_with(std::size_t loop) const {
    return strides[loop] != 0 || irregular[loop] || guarded[loop];
  }
};

// Of all of its memory.
inline double bytes_of(const NestAccess& access) {
  double bytes = access.bytes;
  for (const std::int64_t size : access.sizes) bytes *= static_cast<double>(size);
  return bytes;
}

// Simple instructions that change with the same loops: iterations of others share what they come to.
struct NestOps {
  std::vector<bool> changes;  // by loop
  double instructions = 0;
  friend bool operator==(const NestOps&, const NestOps&) = default;
};

struct Nest {
  std::vector<NestLoop> loops;
  std::vector<NestAccess> accesses;
  std::vector<NestOps>
      inner_ops;  // in each iteration of the reduction; without one, for each element
  std::vector<NestOps> outer_ops;  // for each element, once the reduction is complete
  bool has_reduce() const;
  std::size_t around() const;  // loops that it stands in, which are the first
};

// Some iterations of a loop, as a schedule runs them.
struct Piece {
  std::size_t loop = 0;
  std::int64_t iterations = 1, step = 1;  // of the loop's own iterations, how many it takes at once
  LoopKind kind = LoopKind::Loop;
};

// A schedule as the model sees it.
struct NestPlan {
  std::vector<Piece> pieces;  // outermost first; those in registers last
  std::vector<int> staged;  // by access: the piece in whose iterations it is staged; -1: not at all
  std::vector<bool> by_region;  // by access: the STAGE has the dimensions of the buffer
  // By access: it lies in the order of the loops, and has since before the kernel ran. Empty where nothing does.
  std::vector<bool> kept;
  bool is_kept(std::size_t a) const { return a < kept.size() && kept[a]; }
};

struct NestTime {
  double compute = 0, memory = 0, waits = 0, copies = 0, launch = 0;
  std::size_t slowest = 0;  // level
  double total() const;
  std::string str() const;
};

// Lanes at a distance are turned: so many neighbours at once, which copies read, each with its lanes.
// Processors with vectors of any width interleave within 16 bytes in one instruction.
constexpr std::int64_t turned_at_once(std::int64_t neighbours, std::int64_t lanes,
                                      std::size_t bytes) {
  const std::int64_t most = std::max<std::int64_t>(1, 16 / static_cast<std::int64_t>(bytes));
  const auto least = static_cast<std::uint64_t>(std::min({neighbours, lanes, most}));
  return static_cast<std::int64_t>(std::bit_floor(least));
}

// Lanes a few elements apart: all between them is read, as many vectors, and the lanes are shuffled out.
constexpr bool reads_between(std::int64_t stride, std::int64_t lanes) {
  return stride >= 2 && stride <= 4 && lanes >= 4;
}

// Elements of a row of a region with zeros, of so many bytes each: whole lines; of what is narrower than masks are in most
// processors, as little more than needed as makes vectors.
constexpr std::int64_t region_row(std::int64_t elements, std::int64_t bytes) {
  constexpr std::int64_t line = 64, vector = 16, narrowest_mask = 4;
  const std::int64_t whole = (bytes < narrowest_mask ? vector : line) / bytes;
  return (elements + whole - 1) / whole * whole;
}

// By dimension, the elements of a STAGE by region that holds what the pieces from the first on read.
std::vector<double> region_sizes(const NestAccess& access, const NestPlan& plan, std::size_t first);
// Of a STAGE that does, by region or packed.
double staged_elements(const NestAccess& access, const NestPlan& plan, std::size_t a,
                       std::size_t first);

NestTime time_of(const Machine& machine, const Nest& nest, const NestPlan& plan);

}  // namespace weft
