#include "share.h"

#include <algorithm>

#include <weft/dev/base/size_limits.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>

#include "nest_of.h"
#include "schedule/actions/stores.h"

namespace weft {
namespace {

constexpr std::int64_t most_parts = 16;             // per worker
constexpr std::int64_t parts_of_symbolic_loop = 4;  // per worker; symbolic sizes may be small
constexpr double worth_staging = 8;                 // instructions

// Returns a rough time that counts one instruction for each value and iteration.
double seconds_of(const Node* kernel, const DeviceModel& machine) {
  double instructions = 0;
  for (const Node* node : toposort(kernel)) {
    double iterations = 1;
    for (const Node* range : node->ranges()) iterations *= static_cast<double>(range->src(0)->hi());
    if (!node->dtype().is_index()) instructions += iterations;
  }
  return instructions / (machine.hertz * machine.issue);
}

std::int64_t parts_of_symbolic(std::int64_t max_iterations, int workers) {
  return std::min(max_iterations, workers * parts_of_symbolic_loop);
}

}  // namespace

bool worth_parallelising(const Node* end, const Node* range) {
  return writes_are_disjoint(end, range) &&
         std::ranges::all_of(toposort(end->src(0)), [&](const Node* node) {
           return !OpSet{Op::Reduce, Op::End}.contains(node->op()) || changes_with(node, range);
         });
}

std::int64_t thread_parts(std::int64_t iterations, int workers, bool may_repeat) {
  const std::int64_t most = std::int64_t{workers} * most_parts;
  if (iterations <= most) return iterations;
  for (std::int64_t parts = most; parts >= workers; --parts)
    if (iterations % parts == 0) return parts;
  return may_repeat ? most / 2 : 1;
}

Schedule parallelise_outermost(const KernelLoops& loops, const DeviceModel& machine) {
  const Node* kernel = loops.kernel().node();
  if (machine.workers() < 2 || kernel->size() != 1 || kernel->src(0)->op() != Op::End) return {};
  const Node* end = kernel->src(0);
  const std::vector<NamedLoop> names = loops.names();
  if (names.empty()) return {};
  const auto& [name, range] = names[0];
  if (std::ranges::find(end->src().subspan(1), range) == end->src().end()) return {};
  if (!worth_parallelising(end, range) || seconds_of(kernel, machine) < least_work(worth_threads))
    return {};
  const Action share{.type = Action::Kind, .name = name, .kind = LoopKind::Thread};
  if (!range->src(0)->is_const()) {
    const std::int64_t parts = parts_of_symbolic(range->src(0)->hi(), machine.workers());
    if (parts < 2) return {};
    return {{.type = Action::SplitParallel, .name = name, .count = parts}, share};
  }
  const std::int64_t iterations = range->src(0)->lo();
  const std::int64_t parts = thread_parts(iterations, machine.workers(), may_store_twice(end));
  if (parts < 2) return {};
  Schedule schedule;
  const std::int64_t each = (iterations + parts - 1) / parts;
  if (each > 1)
    schedule.push_back({.type = Action::Tile,
                        .name = name,
                        .count = each,
                        .tail = iterations % each == 0 ? Tail::None : Tail::Shift});
  schedule.push_back(share);
  return schedule;
}

Schedule values_to_stage(const Node* kernel, const Target& target) {
  Schedule schedule;
  for (const auto& [name, range] : loops_of_kernel(kernel)) {
    const Node* reduce = KernelLoops{UOp(kernel)}.closer_of(range);
    if (reduce->op() != Op::Reduce || reduce->src(1) != range) continue;
    const Node* value = reduce->src(0);
    if (value->op() == Op::Tuple || ops_of(value) < worth_staging) continue;
    double bytes = static_cast<double>(value->dtype().bytes());
    for (const Node* own : reduce->src().subspan(1)) {
      if (!own->src(0)->is_const()) bytes = 1e30;
      bytes *= static_cast<double>(own->src(0)->hi());
    }
    if (bytes > static_cast<double>(target.scratch_bytes) / 4) continue;
    if (!same_values(kernel, reduce).empty())
      schedule.push_back({.type = Action::Stage, .name = name});
  }
  return schedule;
}

}  // namespace weft
