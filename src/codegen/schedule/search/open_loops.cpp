#include "open_loops.h"

#include <algorithm>

#include <weft/dev/ir/below.h>

namespace weft {
namespace {

bool has_open_size(const Node* range) { return !range->src(0)->is_const(); }

std::vector<const Node*> reads_of_sums(const Node* kernel) {
  std::vector<const Node*> reads;
  for (const Node* sum : toposort(kernel)) {
    if (sum->op() != Op::Reduce) continue;
    for (const Node* node : toposort(sum))
      if (node->op() == Op::Load) reads.push_back(node);
  }
  return reads;
}

// Returns the number of iterations of the constant-size loops along which reads that change with
// symbolic loops are reused.
double iterations_that_share(const std::vector<const Node*>& loops,
                             const std::vector<const Node*>& reads) {
  const auto moves = [&](const Node* read) {
    return std::ranges::any_of(
        loops, [&](auto range) { return has_open_size(range) && changes_with(read, range); });
  };
  double iterations = 1;
  for (const Node* range : loops) {
    const auto is_own = [&](const Node* read) { return changes_with(read, range); };
    const bool is_shared =
        std::ranges::any_of(reads, is_own) &&
        std::ranges::none_of(reads, [&](auto read) { return is_own(read) && moves(read); });
    if (!has_open_size(range) && is_shared) iterations *= static_cast<double>(range->src(0)->lo());
  }
  return iterations;
}

}  // namespace

Schedule symbolic_loops_outermost(const Node* kernel, const Target& target) {
  const Node* end = kernel->src(0);
  std::vector<NamedLoop> order;
  std::vector<const Node*> loops;
  for (const bool is_open : {true, false})
    for (const NamedLoop& loop : loops_of_kernel(kernel)) {
      if (std::ranges::find(end->src().subspan(1), loop.range) == end->src().end()) continue;
      if (is_open) loops.push_back(loop.range);
      if (has_open_size(loop.range) == is_open) order.push_back(loop);
    }
  const bool moves_some = !std::ranges::equal(order, loops, {}, &NamedLoop::range);
  const std::vector<const Node*> reads = reads_of_sums(kernel);
  if (!moves_some || reads.empty()) return {};
  const double lanes = static_cast<double>(target.vector_bytes) / reads[0]->dtype().bytes();
  if (iterations_that_share(loops, reads) < lanes) return {};
  Action action{.type = Action::Order, .name = {}};
  for (const NamedLoop& loop : order) action.loops.push_back(loop.name);
  return {action};
}

}  // namespace weft
