// A kernel with one sum of products, as a matrix instruction sees it.
#pragma once

#include <string>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>

#include "mma_block.h"
#include "schedule/actions/kernel_loops.h"

namespace weft {

// A read of the kernel that is a factor of the products.
struct MmaFactor {
  std::string name;
  const Node* load = nullptr;
};

// A way to compute the sum with an instruction: its loops, and the block of sums in registers. A
// group of `blocks_in_group` column blocks stays in the cache, packed, while all rows use it. With
// `groups_rows`, a group of row blocks stays there while all columns, then prepacked, are read.
struct MmaTiling {
  MmaShape shape;
  std::string row, column, depth;
  const Node *row_range, *column_range, *depth_range;
  MmaBlock block = {};
  MmaFactor a = {}, b = {};  // change with rows and with columns
  bool groups_rows = false;
  std::int64_t blocks_in_group = 1;

  const std::string& around() const { return groups_rows ? row : column; }
  // The loops inside a block.
  std::string rows_of_block() const { return row + (groups_rows ? ".2" : ".1"); }
  std::string columns_of_block() const { return column + (groups_rows ? ".1" : ".2"); }
};

// Returns whether the read can be prepacked before the kernel runs: it reads a constant at places
// that are the same in each run.
bool can_prepack(const Node* load);
// Returns the stride of a load or store along the range, in elements; 0 if it is not constant.
std::int64_t stride_of(const Node* access, const Node* range);
// Returns the stride inside a part, if the range is cut into parts of `part` iterations; 0 if it is
// not constant.
std::int64_t stride_in_parts(const Node* access, const Node* range, std::int64_t part);
// Returns the elements between the first and the second iteration; 0 if that is unknown.
std::int64_t first_step(const Node* access, const Node* range);

class MmaKernel {
 public:
  MmaKernel(KernelLoops loops, const Target& target);

  const Target& target() const { return target_; }
  const Node* end() const { return end_; }
  const Node* sum() const { return sum_; }  // null unless it is the only sum, and of products

  // Returns all possible ways to use the target's instructions.
  std::vector<MmaTiling> tilings() const;

  // Returns the epilogue's reads that change with the rows and are contiguous along the columns.
  std::vector<MmaFactor> epilogue_reads(const MmaTiling& tiling) const;

  // Returns the range of a loop before it is cut; null for other names.
  const Node* range_of(const std::string& name) const;
  // Returns the iterations of a loop, padded to whole blocks.
  static std::int64_t padded_size(const MmaTiling& tiling, const Node* range);
  // Returns the iterations of a loop around the blocks; 1 for a loop inside them.
  double iterations_of(const MmaTiling& tiling, const std::string& name) const;
  // Return how often the innermost statement runs, and how many blocks the output loops have.
  double iterations(const MmaTiling& tiling) const;
  double blocks(const MmaTiling& tiling) const;
  // Returns the elements of a factor that one block uses in all loops of the sum.
  double elements_of(const Node* load, const MmaTiling& tiling) const;

  // Returns whether the last block of rows is moved back so that it fits.
  bool shifts_last_block(const MmaTiling& tiling) const;
  // Returns the output loops once blocks are cut, outermost first. Loops that the columns do not
  // change with stand inside the column loop, so that they share packed columns. With several
  // workers they stand outermost, for threads; if there are none and columns are prepacked, the row
  // loop does.
  std::vector<std::string> output_loops(const MmaTiling& tiling) const;
  // Returns the loops of the sum, with the depth innermost.
  std::vector<std::string> sum_loops(const MmaTiling& tiling) const;

 private:
  bool is_possible(const MmaTiling& tiling) const;
  MmaFactor factor(const Node* changing) const;

  const Target& target_;
  KernelLoops loops_;
  const Node *end_, *sum_ = nullptr;
};

}  // namespace weft
