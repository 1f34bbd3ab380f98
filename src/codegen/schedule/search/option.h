// What the search for a schedule goes through.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/cost/nest.h>

namespace weft {

// So many iterations of a loop beside one another.
struct Copies {
  int loop = -1;
  std::int64_t count = 1;
};

// How a read is staged: in the order of the loops, outside of loops around the nest that read it again or (Near) inside of
// them; or as it lies; or kept in that order since before the kernel ran.
enum class Staging : std::uint8_t { None, Packed, Near, Region, Kept };

struct Option {
  int vector = -1;  // loop
  std::int64_t lanes = 1, vectors = 1;
  Copies copies = {}, inner = {};       // of other loops; `inner` next to the vectors
  std::vector<std::size_t> order = {};  // of the loops, outermost first; reductions stay inside
  std::vector<Staging> staged = {};     // by access
  std::int64_t block = 0;               // iterations of the first reduction inside its outer loop
  std::int64_t across = 0;              // of the vector loop's tiles inside of all other loops
  std::int64_t part = 0;                // of the last output loop's tiles inside of a block; 0: all
  std::int64_t threads = 1;
  double seconds = 0;
  std::size_t number = 0;  // in the order of the tries
};

// Of a loop's iterations, those that stand in registers at once.
std::int64_t in_registers(const Option& option, std::size_t loop);
// How often that many are taken.
std::int64_t iterations_around(const Nest& nest, const Option& option, std::size_t loop);

// How the last of them is taken, where they do not fill that many: outputs as said. More lanes than iterations are masked.
Tail tail_of(const Nest& nest, std::size_t loop, std::int64_t count, Tail uneven);

// Of a loop, the tiles that stand inside of all other loops, while the rest stands around; 0: no such
// parts. Threads share the rest.
std::int64_t tiles_inside(const Option& option, std::size_t loop);

std::size_t first_reduce(const Nest& nest);
// Of the outputs' loops the last one.
std::size_t last_output(const Nest& nest, const Option& option);

// What an option makes of a loop, registers aside.
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
// Outermost first. The blocks of the reduction go after the first loop of the output, the parts of the
// last one before it; tiles that stand across its loops, last.
std::vector<OuterPiece> outer_pieces(const Nest& nest, const Option& option);

// The option for the model, which begins with its outer pieces.
NestPlan plan_of(const Nest& nest, const Option& option);

// The option for the kernel, whose outputs have this tail where they fill no tiles evenly.
Schedule actions_of(const Nest& nest, const Option& option, Tail uneven);

}  // namespace weft
