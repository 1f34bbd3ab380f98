#include "fusible_group.h"

#include <algorithm>
#include <utility>

#include <weft/dev/ir/memory.h>

#include "schedule/actions/fills.h"

namespace weft {
namespace {

bool is_sum_of_same_length(const Node* node, const Node* top) {
  return node->op() == Op::Reduce && node->arg<ReduceArg>().op == Op::Add && node->size() == 2 &&
         node->src(0)->op() != Op::Tuple && node->src(1)->src(0) == top->src(1)->src(0);
}

}  // namespace

FusibleGroup::FusibleGroup(const Node* kernel, const Node* maximum) : top(maximum) {
  find_sums(kernel);
  if (sums.empty()) refusal = "no sum over as many iterations depends on it";
  for (const Node* range : top->ranges())
    if (std::ranges::all_of(sums, [&](auto sum) { return changes_with(sum, range); }))
      around.push_back(range);
  if (refusal.empty()) find_filled();
}

void FusibleGroup::find_sums(const Node* kernel) {
  for (const Node* node : forward_slice(kernel->src(), top)) {
    if (!is_sum_of_same_length(node, top)) continue;
    const auto is_needed = [&](const Node* sum) { return depends_on(node, sum); };
    if (std::ranges::none_of(sums, is_needed)) sums.push_back(node);
  }
}

void FusibleGroup::find_filled() {
  std::vector<std::pair<const Node*, const Node*>> open{{top->src(0), top->src(1)}};
  for (const Node* sum : sums) open.emplace_back(sum->src(0), sum->src(1));
  for (const auto& [value, loop] : open) loops.push_back(loop);
  while (!open.empty() && refusal.empty()) {
    const auto [value, loop] = open.back();
    open.pop_back();
    for (const Node* node : slice_of(value, loop)) {
      if (node->op() != Op::Index || storage_of(node->src(0))->op() != Op::Buffer) continue;
      if (!changes_with_each_of(node->src(0), around))
        continue;  // filled once for several iterations of the loops around
      const Node* own = filling_loop(node, loop);
      if (own == nullptr) {
        refusal = "memory for its iterations is not filled element by element";
      } else if (!has_node(loops, own)) {
        loops.push_back(own);
        filling.push_back(node->src(0)->src(1));
        open.emplace_back(filling.back()->src(0)->src(1), own);
      }
    }
  }
}

// Returns the loop that fills, element by element, what `loop` reads; null if there is none.
const Node* FusibleGroup::filling_loop(const Node* index, const Node* loop) {
  const NodeList at = index->src().subspan(2);
  const auto changes = [&](const Node* node) { return changes_with(node, loop); };
  const auto dim = static_cast<std::size_t>(std::ranges::find(at, loop) - at.begin());
  const Node* store = only_store_into(index->src(0));
  if (store == nullptr || store->size() != 2 || dim == at.size() ||
      std::ranges::count_if(at, changes) != 1)
    return nullptr;
  const Node *own = store->src(0)->src(dim + 2), *buffer = storage_of(index->src(0));
  const Node* end = index->src(0)->src(1);
  if (end->op() != Op::End || !has_node(end->src().subspan(1), own)) return nullptr;
  if (own->src(0) != loop->src(0)) return nullptr;
  return memory.emplace(buffer, dim).first->second == dim ? own : nullptr;
}

}  // namespace weft
