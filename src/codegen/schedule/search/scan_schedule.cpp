// The loop that carries a scan stays sequential. If another loop is contiguous in memory, a block
// of it runs inside the carrying loop, with an accumulator for each iteration. If the carrying loop
// is the contiguous one, its iterations become vector lanes.

#include "scan_schedule.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <weft/dev/base/size_limits.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/scan.h>

#include "nest_of.h"
#include "plan_of.h"
#include "schedule/actions/kernel_loops.h"
#include "schedule/actions/stores.h"
#include "share.h"

namespace weft {
namespace {

// Instructions per element: lanes of a scan are computed one by one, with their operands.
constexpr double most_in_lanes = 8;

struct ScannedKernel {
  explicit ScannedKernel(const Node* kernel) {
    for (const Node* node : toposort(kernel)) {
      const auto scan = scan_of(node);
      if (!scan) continue;
      for (const Scan::Step& step : scan->steps) loops.insert(step.range);
      bytes += static_cast<std::int64_t>(node->dtype().bytes());
      widest = std::max(widest, static_cast<std::int64_t>(node->dtype().bytes()));
      for (const Node* inner : toposort(scan->value.node()))
        has_inner = has_inner || inner->op() == Op::Reduce;
      instructions = std::max(instructions, ops_of(scan->value.node()));
      double iterations = 1;
      for (const Scan::Step& step : scan->steps)
        iterations *= static_cast<double>(step.range->src(0)->hi());
      terms = std::max(terms, 1 + terms_before(*scan) / iterations);
    }
  }

  std::set<const Node*> loops;  // carry a scan
  std::int64_t bytes = 0;       // of the accumulators of all scans
  std::int64_t widest = 4;
  double terms = 1;         // that an iteration adds, with its share of those before the loop
  bool has_inner = false;   // an operand of a scan contains a reduction
  double instructions = 0;  // per element of the costliest operand
};

class ScanScheduler {
 public:
  ScanScheduler(const Node* kernel, const ScannedKernel& scanned, const Target& target)
      : end_(kernel->src(0)), scanned_(scanned), target_(target) {
    for (const Node* range : end_->src().subspan(1))
      loops_.push_back({fmt::format("r{}", loops_.size()), range});
  }

  Schedule schedule() {
    const std::size_t along = carries() ? contiguous_loop() : loops_.size();
    if (along < loops_.size() && scanned_.loops.contains(loops_[along].range))
      vectorise(loops_[along]);
    else if (along < loops_.size())
      block(loops_[along]);
    put_in_order();
    return schedule_;
  }

  // Returns the schedule for the model, with vector lanes in blocks that are vectorised later.
  Schedule with_lanes(Schedule schedule) const {
    const std::int64_t lanes = target_.vector_bytes / scanned_.widest;
    for (const Loop& loop : loops_) {
      if (!loop.is_inside || iterations(loop) < lanes || lanes < 2) continue;
      schedule.push_back({.type = Action::Tile,
                          .name = loop.name + ".1",
                          .count = lanes,
                          .tail = Tail::Remainder});
      schedule.push_back(
          {.type = Action::Kind, .name = loop.name + ".2", .kind = LoopKind::Vector});
    }
    return schedule;
  }

 private:
  struct Loop {
    std::string name;
    const Node* range;
    bool is_inside = false;  // a block of it runs inside the carrying loops
    bool is_vector = false;  // its iterations are lanes
  };

  // Whether a loop of the END carries a scan. Otherwise all scans are in staged values.
  bool carries() const {
    return std::ranges::any_of(
        loops_, [&](const Loop& loop) { return scanned_.loops.contains(loop.range); });
  }

  static std::int64_t iterations(const Loop& loop) { return loop.range->src(0)->hi(); }

  // Returns the loop of constant size that stores to contiguous elements, or the number of loops.
  std::size_t contiguous_loop() const {
    const NodeList at = stores_of(end_)[0]->src(0)->src().subspan(2);
    for (std::size_t d = at.size(); d-- > 0;) {
      if (at[d]->ranges().empty()) continue;
      const auto found = std::ranges::find(loops_, at[d], &Loop::range);
      const bool is_known = found != loops_.end() && found->range->src(0)->is_const();
      return is_known ? static_cast<std::size_t>(found - loops_.begin()) : loops_.size();
    }
    return loops_.size();
  }

  void tile(const std::string& name, std::int64_t count, Tail tail, bool is_even) {
    schedule_.push_back(
        {.type = Action::Tile, .name = name, .count = count, .tail = is_even ? Tail::None : tail});
  }

  void vectorise(Loop& loop) {
    if (target_.vector_bytes == 0 || scanned_.has_inner || scanned_.instructions > most_in_lanes ||
        iterations_run_loops(end_, loop.range))
      return;
    std::int64_t lanes = target_.vector_bytes / scanned_.widest;
    while (lanes > iterations(loop)) lanes /= 2;
    if (lanes < 2) return;
    tile(loop.name, lanes, Tail::Mask, iterations(loop) % lanes == 0);
    schedule_.push_back({.type = Action::Kind, .name = loop.name + ".1", .kind = LoopKind::Vector});
    loop.is_vector = true;
  }

  // Blocks a loop so that the accumulators of a block fit into half of the L1 cache.
  void block(Loop& loop) {
    loop.is_inside = true;
    const auto& levels = target_.machine.memory;
    const double cache = levels.empty() ? 32e3 : levels[0].bytes;
    const std::int64_t most =
        std::max<std::int64_t>(64, static_cast<std::int64_t>(cache) / 2 / scanned_.bytes);
    std::int64_t parts = (iterations(loop) + most - 1) / most;
    if (is_worth_threads() && others() < target_.machine.workers() && iterations(loop) >= 64)
      parts = std::max<std::int64_t>(parts, target_.machine.workers());
    std::int64_t size = (iterations(loop) + parts - 1) / parts;
    if (parts > 1) size = std::min(iterations(loop), (size + 15) / 16 * 16);
    tile(loop.name, size, may_store_twice(end_) ? Tail::Shift : Tail::Mask,
         iterations(loop) % size == 0);
  }

  bool is_worth_threads() const {
    double elements = 1;
    for (const Loop& loop : loops_) elements *= static_cast<double>(iterations(loop));
    return target_.machine.workers() > 1 &&
           elements / target_.machine.hertz > least_work(worth_threads);
  }

  // Returns the iterations of the loops that neither carry a scan nor are blocked.
  double others() const {
    double count = 1;
    for (const Loop& loop : loops_)
      if (!scanned_.loops.contains(loop.range) && !loop.is_inside)
        count *= static_cast<double>(iterations(loop));
    return count;
  }

  void put_in_order() {
    std::vector<const Loop*> order;
    for (const Loop& loop : loops_)
      if (!scanned_.loops.contains(loop.range)) order.push_back(&loop);
    std::vector<std::string> names;
    for (const Loop* loop : order) names.push_back(loop->name);
    if (!order.empty()) share(*order[0], names);
    for (const Loop& loop : loops_)
      if (scanned_.loops.contains(loop.range)) names.push_back(loop.name);
    for (const Loop& loop : loops_)
      if (loop.is_inside || loop.is_vector) names.push_back(loop.name + ".1");
    schedule_.push_back({.type = Action::Order, .name = {}, .loops = std::move(names)});
  }

  void share(const Loop& loop, std::vector<std::string>& names) {
    if (!is_worth_threads() || !loop.range->src(0)->is_const() ||
        !worth_parallelising(end_, loop.range))
      return;
    if (!loop.is_inside) {
      const std::int64_t parts =
          thread_parts(iterations(loop), target_.machine.workers(), may_store_twice(end_));
      if (parts < 2) return;
      const std::int64_t each = (iterations(loop) + parts - 1) / parts;
      if (each > 1) {
        tile(loop.name, each, Tail::Shift, iterations(loop) % each == 0);
        names.insert(names.begin() + 1, loop.name + ".1");
      }
    }
    schedule_.push_back({.type = Action::Kind, .name = loop.name, .kind = LoopKind::Thread});
  }

  const Node* end_;
  const ScannedKernel& scanned_;
  const Target& target_;
  std::vector<Loop> loops_;
  Schedule schedule_;
};

std::string_view family_of(std::string_view name) { return name.substr(0, name.find('.')); }

// Returns how often a nest inside the kernel's loops runs again: once for each iteration of loops
// that are not among those around it, but are outside of one of them.
double executions(const Nest& nest, const std::vector<NamedLoop>& order) {
  std::set<std::string_view> around;
  for (const NestLoop& loop : nest.loops)
    if (loop.is_around) around.insert(family_of(loop.names[0]));
  double times = 1, others = 1;
  for (const auto& [name, range] : order) {
    if (around.contains(family_of(name)))
      times = others;
    else if (range->src(0)->is_const())
      others *= static_cast<double>(range->src(0)->lo());
  }
  return times;
}

// Returns the loops of the kernel's END, in the order of the schedule.
std::vector<NamedLoop> loops_around(const KernelLoops& loops) {
  std::vector<NamedLoop> order = loops.names();
  std::erase_if(order, [&](const NamedLoop& loop) {
    return loops.closer_of(loop.range) != loops.kernel()->src(0);
  });
  return order;
}

std::optional<double> seconds_of(const Node* kernel, const Schedule& schedule,
                                 const KernelLoops& scheduled, const Target& target) {
  const std::vector<NamedLoop> order = loops_around(scheduled);
  const UOp once = with_scans_carried(UOp(kernel));
  const std::vector<NamedLoop> names = loops_of_kernel(once.node());
  std::set<std::string> open;  // loops that are in no nest
  for (const NamedLoop& loop : names) open.insert(loop.name);
  double seconds = 0, launch = 0;
  for (const auto& each : nests_of(once.node(), names, target.ops.contains(Op::MulAcc))) {
    for (const NestLoop& loop : each.nest.loops)
      for (const std::string& name : loop.names) open.erase(name);
    const NestTime time = time_of(target.machine, each.nest, plan_of(each.nest, schedule));
    seconds += (time.total() - time.launch) * executions(each.nest, order);
    launch = std::max(launch, time.launch);
  }
  return open.empty() ? std::optional(seconds + launch) : std::nullopt;
}

bool may_be_scheduled(const Node* kernel) {
  return kernel->size() == 1 && kernel->src(0)->op() == Op::End &&
         std::ranges::all_of(stores_of(kernel->src(0)), is_plain_store);
}

}  // namespace

Schedule with_lanes_of_blocks(const Node* kernel, const Schedule& schedule, const Target& target) {
  const ScannedKernel scanned(kernel);
  if (scanned.loops.empty() || !may_be_scheduled(kernel)) return schedule;
  ScanScheduler scheduler(kernel, scanned, target);
  return to_string(scheduler.schedule()) == to_string(schedule) ? scheduler.with_lanes(schedule)
                                                                : schedule;
}

std::optional<ScanSchedule> scan_schedule(const Node* kernel, const Target& target) {
  const ScannedKernel scanned(kernel);
  if (scanned.loops.empty()) return std::nullopt;
  if (!may_be_scheduled(kernel)) return ScanSchedule();
  ScanScheduler scheduler(kernel, scanned, target);
  const Schedule schedule = scheduler.schedule();
  KernelLoops scheduled{UOp(kernel)};
  scheduled.apply(schedule);
  std::optional<double> seconds =
      seconds_of(kernel, scheduler.with_lanes(schedule), scheduled, target);
  if (seconds) *seconds *= scanned.terms;
  return ScanSchedule{schedule, seconds};
}

}  // namespace weft
