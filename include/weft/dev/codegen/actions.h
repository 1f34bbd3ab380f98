// Schedules: lists of actions that transform the loops of a kernel, and their text form.
//
//   tile r1 64 shift; tile r1.1 16; tile r0 6 shift; order r1 r0 r0.1 r1.1 r1.2;
//   stage p2 at r1; upcast r0.1; upcast r1.1; vector r1.2
//
// Loops are named by their position in the kernel before any action: r0, r1 ... are the loops
// around its stores, k0, k1 ... those of its reductions, s0, s1 ... those that fill scratch memory,
// the last two in the order of toposort(). An inner loop that TILE splits off is named after its
// loop: r1.1, then r1.2, wherever in r1 the split was. Inner loops of BATCH and loops that it adds
// are b0, b1 ..., those that ONLINE adds o0, o1 ... STAGE takes reads of params: p2 is the read of
// slot 2, or p2.0, p2.1 ... if there are several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// What happens to the iterations of the last tile that exceed the loop.
enum class Tail : std::uint8_t {
  None,       // there are none: the tile size divides the loop
  Mask,       // the accesses of these iterations are masked
  Remainder,  // the iterations that fill no tile get a remainder loop
  Shift,      // the last tile starts earlier, so that some elements are computed twice
};

struct Action {
  enum Type : std::uint8_t {
    Tile,           // splits the loop into tiles of `count` iterations
    Kind,           // sets the kind of the loop
    Order,          // `loops`, outermost first; reduction loops may precede output loops
    Stage,          // computes the value beforehand, for all iterations inside loop `at`
    Group,          // a TILE of a reduction whose inner iterations become work-items
    Pad,            // adds masked iterations until `count` divides the loop
    Swap,           // interchanges the two `loops`
    Prefetch,       // prefetches reads of the next iteration of loop `at`, or stores of this one
    Pipeline,       // reads the staged data `count` - 1 iterations before it is used
    Batch,          // a TILE for all iterations of which memory is filled at once
    Online,         // computes the maximum over the loop and the sums relative to it in blocks
    SplitParallel,  // splits a loop, also one of symbolic size, into `count` contiguous chunks
    // Computes the sum over loop `name` in the two output `loops` with the instruction `at`. Tiles
    // have `count` rows, or as many as fit if it is 0.
    Mma,
    Merge,  // collapses the two `loops`, of which the second is the inner one, into one
  };
  static constexpr std::size_t types = Merge + 1;

  Type type = Tile;
  std::string name;  // of the loop or the value
  std::int64_t count = 0;
  Tail tail = Tail::None;
  LoopKind kind = LoopKind::Loop;
  std::vector<std::string> loops = {};  // of a STAGE: order of its dimensions; empty: loop order
  std::string at = {};                  // of a STAGE: empty for the whole kernel
  // The STAGE has the dimensions of the param instead of the loops'. It covers the bounding box of
  // the indices inside.
  bool by_region = false;
  bool slides = false;  // a region that keeps what the previous iteration has read
  // Stages the whole factor of a summed product that contains the read, after it is decoded.
  bool decoded = false;
  // The memory of a STAGE. The items of a work-group fill Shared memory together. Constant memory
  // is filled once, by a kernel of its own.
  Space space = Space::Scratch;

  friend bool operator==(const Action&, const Action&) = default;
};

using Schedule = std::vector<Action>;

// Returns "none" if there are no actions.
std::string to_string(const Schedule& schedule);
// Throws if the text is not a schedule, with the offending part.
Schedule parse_schedule(std::string_view text);

struct NamedLoop {
  std::string name;
  const Node* range;
};
std::vector<NamedLoop> loops_of_kernel(const Node* kernel);

struct NamedRead {
  std::string name;
  const Node* load;
};
std::vector<NamedRead> reads_of_kernel(const Node* kernel);

// Applies all actions. Throws if one cannot be applied, with the reason.
UOp apply_schedule(const UOp& kernel, const Schedule& schedule);

}  // namespace weft
