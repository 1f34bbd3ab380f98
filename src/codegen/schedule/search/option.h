// A candidate of the schedule search, and its translation into a NestPlan and a Schedule.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>

namespace weft {

// A loop unrolled by `count`: its iterations are interleaved in registers.
struct Unroll {
  int loop = -1;
  std::int64_t count = 1;
};

// How a read is staged:
//   Packed  in the order of the loops, outside of the loops around the nest that reuse it
//   Near    in the order of the loops, inside of the loops around the nest
//   Region  with the layout of the buffer
//   Kept    prepacked in the order of the loops, before the kernel runs
enum class Staging : std::uint8_t { None, Packed, Near, Region, Kept };

struct Option {
  int vector = -1;  // loop
  std::int64_t lanes = 1, vectors = 1;
  Unroll copies = {}, inner = {};       // other unrolled loops; `inner` is inside `copies`
  std::vector<std::size_t> order = {};  // loops, outermost first; reductions stay innermost
  std::vector<Staging> staged = {};     // by access
  std::int64_t block = 0;               // block size of the first reduction; 0: no blocks
  std::int64_t across = 0;              // tiles of the vector loop inside all other loops
  std::int64_t part = 0;                // tiles of the last output loop inside a block; 0: all
  std::int64_t threads = 1;
  double seconds = 0;
  std::size_t number = 0;  // position in the order of trial
};

// Returns how many iterations of a loop a register tile covers.
std::int64_t in_registers(const Option& option, std::size_t loop);
// Returns how many register tiles cover a loop.
std::int64_t iterations_around(const Nest& nest, const Option& option, std::size_t loop);

// Returns the tail of a loop in tiles of `count` iterations; `uneven` is that of output loops which
// `count` does not divide. A tile that is larger than the loop is masked.
Tail tail_of(const Nest& nest, std::size_t loop, std::int64_t count, Tail uneven);

// Returns how many register tiles of a loop run inside all other loops, or 0 if the loop is not
// split this way. Threads share the loop over groups of these tiles.
std::int64_t tiles_inside(const Option& option, std::size_t loop);

std::size_t first_reduce(const Nest& nest);
// Returns the innermost output loop.
std::size_t last_output(const Nest& nest, const Option& option);

// A loop around the register tiles, or a part of one that the option splits.
struct OuterPiece {
  enum Role : std::uint8_t {
    Whole,
    Threads,
    InThread,
    Parts,
    InPart,
    Blocks,
    InBlock,
    Across,
    InAcross
  };

  std::size_t loop;
  Role role;
};
// Returns the loops around the register tiles, outermost first. The loop over blocks of the
// reduction follows the first output loop. The loop over parts of the last output loop precedes the
// blocks and, unless threads share that, the first output loop. InAcross is last.
std::vector<OuterPiece> outer_pieces(const Nest& nest, const Option& option);

// Returns the plan of an option for the cost model. Its pieces begin with outer_pieces().
NestPlan plan_of(const Nest& nest, const Option& option);

// Returns the schedule of an option. Output loops that tiles do not divide have the tail `uneven`.
Schedule actions_of(const Nest& nest, const Option& option, Tail uneven);

}  // namespace weft
