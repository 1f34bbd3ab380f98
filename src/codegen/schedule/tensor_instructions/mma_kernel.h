// A kernel of one sum of products, as an instruction for matrices sees it.
#pragma once

#include <string>
#include <vector>

#include <weft/dev/codegen/actions.h>
#include <weft/dev/device/target.h>

#include "mma_block.h"
#include "schedule/actions/kernel_loops.h"

namespace weft {

// A read of the kernel's, which is multiplied.
struct MmaFactor {
  std::string name;
  const Node* load = nullptr;
};

// The loops of an instruction, and the block of sums in registers. Blocks of columns go together around all rows, so that these
// find near what is packed of them; or blocks of rows around all columns, where nobody packs those.
struct MmaWay {
  MmaShape shape;
  std::string row, column, depth;
  const Node *row_range, *column_range, *depth_range;
  MmaBlock block = {};
  MmaFactor a = {}, b = {};  // of rows and of columns
  bool has_rows_around = false;
  std::int64_t together = 1;

  const std::string& around() const { return has_rows_around ? row : column; }
  // What is left of each inside of a block.
  std::string rows_of_block() const { return row + (has_rows_around ? ".2" : ".1"); }
  std::string columns_of_block() const { return column + (has_rows_around ? ".1" : ".2"); }
};

// Whether what is packed of the read is packed once, before the kernel runs: nobody writes it.
bool is_kept(const Node* load);
// Of a load or a store: elements between one iteration and the next; 0 where it is not always as many.
std::int64_t stride_of(const Node* access, const Node* range);
// Where iterations are cut into parts of so many, between those of a part.
std::int64_t stride_in_parts(const Node* access, const Node* range, std::int64_t part);
// The same between the first and the second iteration; 0 where that is not known.
std::int64_t first_step(const Node* access, const Node* range);

class MmaKernel {
 public:
  MmaKernel(KernelLoops loops, const Target& target);

  const Target& target() const { return target_; }
  const Node* end() const { return end_; }
  const Node* sum() const { return sum_; }  // null where there is none, or several

  // Those that may be, for each instruction.
  std::vector<MmaWay> ways() const;

  // Reads of what is computed with the sums, row by row along the columns.
  std::vector<MmaFactor> beside_sums(const MmaWay& way) const;

  // What is not cut yet; null for other names.
  const Node* range_of(const std::string& name) const;
  // Iterations of a loop, with those that fill up its last block.
  static std::int64_t size_in(const MmaWay& way, const Node* range);
  // Of a loop around the blocks.
  double iterations_of(const MmaWay& way, const std::string& name) const;
  // Of the innermost statement, and of the blocks of all loops of the output.
  double iterations(const MmaWay& way) const;
  double blocks(const MmaWay& way) const;
  // Of a factor in one block, in all loops of the sum.
  double elements_of(const Node* load, const MmaWay& way) const;

  // The last block of rows begins so early that it fits.
  bool shifts(const MmaWay& way) const;
  // The loops of the output once blocks are cut: others around those of the tiles. What is read of columns serves all that
  // do not change it, but threads share these, and else blocks of rows where nobody packs columns.
  std::vector<std::string> output_loops(const MmaWay& way) const;
  // Along the depth last.
  std::vector<std::string> sum_loops(const MmaWay& way) const;

 private:
  bool is_possible(const MmaWay& way) const;
  MmaFactor factor(const Node* changing) const;

  const Target& target_;
  KernelLoops loops_;
  const Node *end_, *sum_ = nullptr;
};

}  // namespace weft
