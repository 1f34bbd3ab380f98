// What a run leaves behind in the shared graph: BUFFERs, and tensors that know where they are.
//
// All of it is made before the run. Once a kernel has written over memory, whoever asks for the same tensor again must find
// that it did, or an assignment would be done twice: even where there is no memory left, or a later step fails.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include <weft/dev/engine/lineage.h>
#include <weft/dev/engine/realize.h>
#include <weft/dev/schedule/plan.h>

#include "resolve.h"

namespace weft {

struct Results {
  struct Overwritten {
    UOp before;
    std::vector<std::size_t> roots;  // that write its memory
  };
  std::vector<UOp> buffers;  // by slot; null for what the run alone needs
  std::vector<UOp> roots;    // over those
  std::vector<Overwritten> overwritten;
};

Results results_of(const Plan& plan, const Resolved& resolved);

// The steps that write the memory of each root, as numbers of steps that are done once they are. Roots in the same memory
// share them.
using Writes = std::shared_ptr<const std::vector<std::size_t>>;
std::vector<Writes> writes_of_roots(const Plan& plan);

// What the graph is to know of the results once they are there, by the number of steps that have been done.
class Outcome {
 public:
  // `tensors` and `writes` by root.
  Outcome(const Results& results, const std::vector<UOp>& tensors,
          const std::vector<Writes>& writes);
  void tell(std::size_t steps_done) const noexcept;

 private:
  struct Found {
    UOp node;  // keeps it
    std::shared_ptr<UOp> memory;
    std::size_t steps;
  };
  struct Gone {
    Loss loss;
    std::size_t steps;
  };
  void add(const UOp& tensor, const UOp& result, std::size_t steps);

  std::unordered_map<const Node*, Found> found_;
  std::vector<Gone> gone_;
};

}  // namespace weft
