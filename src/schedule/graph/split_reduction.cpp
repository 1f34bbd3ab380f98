#include "split_reduction.h"

#include <algorithm>

#include <weft/dev/base/size_limits.h>
#include <weft/dev/ir/movement.h>

namespace weft {
namespace {

constexpr double least_elements = 1 << 20;
constexpr std::int64_t most_results = 8;
constexpr std::int64_t least_parts = 16, most_parts = 128;

// Returns the largest divisor of the size between these bounds; 0 if there is none.
std::int64_t parts_of(std::int64_t size) {
  for (std::int64_t parts = most_parts; parts >= least_parts; --parts)
    if (size % parts == 0) return parts;
  return 0;
}

UOp split(const Match& m) {
  const Node* sum = m.root();
  const UOp tensor(sum->src(0));
  const ReduceArg& arg = sum->arg<ReduceArg>();
  const Axes axes = arg.axes.get();
  if (axes.empty() || tensor->dtype().is_void() || tensor->dtype().bits() < 32) return {};
  Sizes sizes = sizes_of(tensor);
  double elements = 1, reduced = 1;
  for (const UOp& size : sizes) {
    if (!size->is_const()) return {};
    elements *= static_cast<double>(size->lo());
  }
  for (std::int64_t axis : axes)
    reduced *= static_cast<double>(sizes[static_cast<std::size_t>(axis)]->lo());
  // More than partial results, which are reduced at once.
  if (elements < std::max(least_work(least_elements), 2.0 * most_parts * most_results) ||
      elements / reduced > most_results)
    return {};
  for (std::int64_t axis : axes) {
    const std::int64_t size = sizes[static_cast<std::size_t>(axis)]->lo(), parts = parts_of(size);
    if (parts == 0) continue;
    sizes[static_cast<std::size_t>(axis)] = const_int(parts);
    sizes.insert(sizes.begin() + axis + 1, const_int(size / parts));
    Axes within;
    for (std::int64_t other : axes) within.push_back(other < axis ? other : other + 1);
    const UOp some = reduce(arg.op, reshape(tensor, sizes), within);
    return reshape(reduce(arg.op, make(Op::Contiguous, {some}), {axis}), sizes_of(UOp(sum)));
  }
  return {};
}

}  // namespace

const RuleSet& split_reduction_rules() {
  static const RuleSet rules{"split_reduction", {rule(node(Op::Reduce), split)}};
  return rules;
}

}  // namespace weft
