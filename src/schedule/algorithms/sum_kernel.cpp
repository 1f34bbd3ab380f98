#include "sum_kernel.h"

#include <algorithm>

#include <weft/dev/ir/graph.h>

namespace weft {
namespace {

// Returns the only REDUCE below a STORE; null if there is none or several, or a STAGE or AFTER.
const Node* only_reduce(const Node* store) {
  const Node* found = nullptr;
  for (const Node* node : toposort(store)) {
    if (node->op() == Op::Stage || node->op() == Op::After) return nullptr;
    if (node->op() != Op::Reduce) continue;
    if (found != nullptr) return nullptr;
    found = node;
  }
  return found;
}

bool have_known_iterations(NodeList ranges) {
  return std::ranges::all_of(ranges, [](const Node* range) {
    return range->op() == Op::Range && range->src(0)->is_const();
  });
}

}  // namespace

std::int64_t iterations_of(const Ranges& ranges) {
  std::int64_t count = 1;
  for (const Node* range : ranges) count *= iterations_of(range);
  return count;
}

std::optional<SumKernel> sum_kernel_in(const UOp& kernel) {
  if (kernel->size() != 1) return {};
  const Node* end = kernel->src(0);
  if (end->op() != Op::End) return {};
  const Node* store = end->src(0);
  if (store->op() != Op::Store || store->arg<StoreArg>().combine) return {};
  const Node* sum = only_reduce(store);
  if (sum == nullptr || sum->arg<ReduceArg>().op != Op::Add) return {};
  if (!have_known_iterations(end->src().subspan(1)) ||
      !have_known_iterations(sum->src().subspan(1)))
    return {};
  return SumKernel{end, store, sum};
}

}  // namespace weft
