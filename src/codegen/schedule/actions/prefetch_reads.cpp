// PREFETCHes in front of reads. For packed data and rows of matrix tiles, the loops that read now
// prefetch all cache lines of the next iteration, a share in each of theirs. For other reads, the
// element at the same place is prefetched. The lines of an output that is stored after a sum are
// prefetched while the sum is computed.

#include <algorithm>
#include <functional>
#include <ranges>
#include <utility>

#include <fmt/core.h>
#include <weft/dev/ir/memory.h>

#include "common/loops.h"
#include "fills.h"
#include "kernel_loops.h"
#include "schedule/tensor_instructions/mma_kernel.h"

namespace weft {
namespace {

constexpr std::int64_t bytes_of_line = 64, most_in_iteration = 64;
constexpr std::int64_t most_to_write_in_iteration = 16;

bool runs_in_order(const Node* range) {
  return kind_of(range) == LoopKind::Loop || kind_of(range) == LoopKind::Thread;
}
std::int64_t iterations_of(const Node* range) { return range->src(0)->lo(); }

// The elements that one iteration reads or stores, in memory order, divided into cache lines.
class AccessLines {
 public:
  AccessLines(const Node* access, std::vector<const Node*> loops) : loops_(std::move(loops)) {
    const auto step = [&](const Node* range) { return first_step(access, range); };
    std::ranges::sort(loops_, std::greater<>(), step);
    std::int64_t run = 1;
    for (const Node* range : loops_ | std::views::reverse) {
      elements_ *= iterations_of(range);
      if (step(range) == run) run = elements_;
    }
    const std::uint32_t bytes = storage_of(access->src(0)->src(0))->dtype().bytes();
    const auto line = std::max<std::int64_t>(bytes_of_line / static_cast<std::int64_t>(bytes), 1);
    in_line_ = run % line == 0 ? line : std::min(run, line);
  }

  std::int64_t lines() const { return elements_ / in_line_; }

  // Returns the iteration of each loop at which a line begins.
  Substitution begin_of(const UOp& line) const {
    Substitution iterations;
    UOp rest = line * in_line_;
    for (const Node* range : loops_ | std::views::reverse) {
      const std::int64_t size = iterations_of(range);
      iterations.emplace(range, range == loops_[0] ? rest : rest % size);
      rest = rest / size;
    }
    return iterations;
  }

 private:
  std::vector<const Node*> loops_;  // by decreasing stride
  std::int64_t elements_ = 1, in_line_ = 1;
};

// A linear number for the iterations of the outermost loops. Loops are included while there are no
// more iterations than lines, or while each iteration would prefetch more than `most` lines.
struct Counted {
  UOp iteration = const_int(0);
  std::int64_t iterations = 1;

  std::int64_t share_of(std::int64_t lines) const { return (lines + iterations - 1) / iterations; }
};
Counted counted(const std::vector<const Node*>& loops, std::int64_t lines, std::int64_t most) {
  Counted all;
  for (const Node* range : loops) {
    if (all.iterations * iterations_of(range) > lines && all.share_of(lines) <= most) break;
    all.iterations *= iterations_of(range);
    all.iteration = all.iteration * iterations_of(range) + UOp(range);
  }
  return all;
}

// Whether the read is of packed data or of rows of matrix tiles, whose lines are all prefetched.
bool is_of_many_lines(const Node* load) {
  return storage_of(load->src(0)->src(0))->op() != Op::Param ||
         std::ranges::any_of(load->ranges(), is_range<LoopKind::Mma>);
}

}  // namespace

// Returns the sequential loops around the load that are inside of `around`, outermost first.
std::vector<const Node*> KernelLoops::repeated_inside(const Node* around, const Node* load) const {
  const std::vector<const Node*> all = closers();
  const Node* closer =
      *std::ranges::find_if(all, [&](const Node* node) { return depends_on(node, load); });
  return loops_where([&](const Node* range) {
    const bool is_around = changes_with(closer, range) || has_node(closer->src(), range);
    return is_around && is_plain_loop(range) && comes_before(around, range);
  });
}

namespace {

UOp with_prefetched(const Node* load, const std::vector<UOp>& places) {
  const UOp place(load->src(0));
  std::vector<UOp> memory{place.src(0)};
  for (const UOp& each : places) memory.push_back(make(Op::Prefetch, {each}));
  return with_first_source(UOp(load), with_first_source(place, make(Op::After, memory)));
}

}  // namespace

UOp KernelLoops::prefetch_before_read(const Action& action, const Node* load) const {
  const Node* around = loop(action.at);
  if (!depends_on(kernel_.node(), load))
    refuse(action, "it is part of another staged value, or already prefetched");
  if (!runs_in_order(around))
    refuse(action, fmt::format("the iterations of {} are not sequential", action.at));
  if (!changes_with(load, around)) refuse(action, "the next iteration reads the same data");
  if (!is_of_many_lines(load)) return with_prefetched(load, {next_place(load, around)});
  const auto repeated = repeated_inside(around, load);
  const Substitution next{{around, next_iteration(around)}};
  return with_prefetched(load, lines_in_iteration(action, load, repeated, most_in_iteration, next));
}

// Returns the places, one per cache line, that each iteration of the `repeated` loops prefetches.
// Together they cover what the access touches in the given iteration of the loop of the action.
std::vector<UOp> KernelLoops::lines_in_iteration(const Action& action, const Node* access,
                                                 const std::vector<const Node*>& repeated,
                                                 std::int64_t most,
                                                 const Substitution& iteration) const {
  const Node* around = loop(action.at);
  const std::vector<const Node*> inside = loops_where([&](const Node* range) {
    return changes_with(access, range) && comes_before(around, range);
  });
  check_sizes(action, inside);
  check_sizes(action, repeated);
  const AccessLines in_iteration(access, inside);
  const Counted now = counted(repeated, in_iteration.lines(), most);
  const std::int64_t share = now.share_of(in_iteration.lines());
  if (share > most_in_iteration)
    refuse(action, "too few iterations to prefetch that many cache lines");
  std::vector<UOp> lines;
  for (std::int64_t i = 0; i < share; ++i) {
    const UOp line = now.iteration * share + i, last = const_int(in_iteration.lines() - 1);
    const bool has_more = share * now.iterations > in_iteration.lines();
    Substitution at = in_iteration.begin_of(has_more ? where(line < last, line, last) : line);
    at.insert(iteration.begin(), iteration.end());
    lines.push_back(substitute(UOp(access->src(0)), at));
  }
  return lines;
}

// Returns the STORE to the param with this name; null if there is none or more than one, or if the
// kernel reads the param.
const Node* KernelLoops::stored_as(const std::string& name) const {
  const Node* found = nullptr;
  for (const NamedRead& read : reads())
    if (read.name == name || read.name.starts_with(name + ".")) return nullptr;
  for (const Node* node : toposort(kernel_.node())) {
    if (node->op() != Op::Store) continue;
    const Node* memory = storage_of(node->src(0)->src(0));
    if (memory->op() != Op::Param || name != fmt::format("p{}", memory->arg<ParamArg>().slot))
      continue;
    if (found != nullptr) return nullptr;
    found = node;
  }
  return found;
}

void KernelLoops::prefetch_stores(const Action& action) {
  const Node *store = stored_as(action.name), *around = loop(action.at);
  if (!runs_in_order(around))
    refuse(action, fmt::format("the iterations of {} are not sequential", action.at));
  for (const Node* load : toposort(store)) {
    if (load->op() != Op::Load) continue;
    std::vector<const Node*> repeated = repeated_inside(around, load);
    std::erase_if(repeated, std::not_fn(is_range<LoopKind::Reduce>));
    if (repeated.empty() || !changes_with(closer_of(repeated[0]), around)) continue;
    return replace(load, with_prefetched(load, lines_in_iteration(action, store, repeated,
                                                                  most_to_write_in_iteration, {})));
  }
  refuse(action, "no reduction inside the loop precedes the store");
}

}  // namespace weft
