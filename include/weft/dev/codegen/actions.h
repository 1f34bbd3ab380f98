// Actions: what a schedule does to the loops of a kernel, and their text.
//
//   tile r1 64 shift; tile r1.1 16; tile r0 6 shift; order r1 r0 r0.1 r1.1 r1.2;
//   stage p2 at r1; upcast r0.1; upcast r1.1; vector r1.2
//
// Loops are named by their place in the kernel before any action: r0, r1 ... are those around what it
// stores, k0, k1 ... those of its reductions, as toposort() meets these. What TILE cuts off a loop is
// named after it: r1.1, then r1.2 wherever the cut was within r1; what BATCH cuts off or adds is
// b0, b1 ..., what ONLINE adds o0, o1 ... The values that STAGE takes are reads of params: p2 is
// that of slot 2, or p2.0, p2.1 ... where there are several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/dev/ir/uop.h>

namespace weft {

// What becomes of the iterations of the last tile that the loop does not have.
enum class Tail : std::uint8_t {
  None,       // the size is a multiple
  Mask,       // they are skipped, by the validity of what they would read and write
  Remainder,  // a loop of its own for the iterations that fill no tile
  Shift,      // the last tile begins earlier: some elements are computed twice
};

struct Action {
  enum Type : std::uint8_t {
    Tile,   // the loop as `count` iterations within a loop over such tiles
    Kind,   // how the loop runs
    Order,  // `loops`, outermost first, in this order; a reduction's may stand before others
    Stage,  // the value is computed before, for all iterations inside of loop `at` (the kernel: "")
    Group,  // a TILE of a reduction whose iterations are those of work-items
    Pad,    // more iterations, which are masked, until `count` divides them
    Swap,   // the two `loops` change places
    Prefetch,  // the value of the next iteration of loop `at`, or what this one stores, is brought into the caches
    Pipeline,  // what is staged is read `count` - 1 iterations before it is needed
    Batch,     // a TILE for whose iterations what each of them fills is filled at once
    Online,  // what needs the maximum over loop `name` is summed with it, in blocks of `count` iterations
    SplitParallel,  // the loop, of whatever size, as `count` parts of iterations that follow one another
    // A sum over loop `name`, in the two `loops` of the output, by the instruction `at`; by tiles of `count` rows, if not 0.
    Mma,
    Merge,  // the second of the two `loops` runs within the first: one loop over the iterations of both
  };
  static constexpr std::size_t types = Merge + 1;

  Type type = Tile;
  std::string name;  // of the loop or the value
  std::int64_t count = 0;
  Tail tail = Tail::None;
  LoopKind kind = LoopKind::Loop;
  std::vector<std::string> loops =
      {};  // of a STAGE: the order of its dimensions; empty: as they run
  std::string at = {};
  // A STAGE has the dimensions of the param, not those of the loops: the part between the least and
  // the greatest index inside.
  bool by_region = false;
  bool slides = false;  // a region that keeps what the iteration before has read
  // A STAGE of all that the read is decoded to: the factor of a product that is summed.
  bool decoded = false;
  // Of a STAGE: the items of a work-group fill Shared memory together; what is Constant is filled once, by a
  // kernel of its own.
  Space space = Space::Scratch;

  friend bool operator==(const Action&, const Action&) = default;
};

using Schedule = std::vector<Action>;

// "none" where there are no actions.
std::string to_string(const Schedule& schedule);
// Throws for what is no schedule, and says where.
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

// The kernel after all actions. Throws where one cannot be done, and says why.
UOp apply_schedule(const UOp& kernel, const Schedule& schedule);

}  // namespace weft
