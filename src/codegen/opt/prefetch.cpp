// PREFETCH: what the next trip of a loop reads comes into the caches while this one computes.

#include <algorithm>

#include <weft/dev/codegen/filled.h>
#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "kernel_loops.h"
#include "mma_kernel.h"
#include "nest_of.h"
#include "share.h"

namespace weft {
namespace {

constexpr std::int64_t bytes_of_line = 64;  // that caches move
constexpr double worth_a_prefetch = 8;      // instructions that a value takes beside it

bool is_plain(const Node* range) { return range->arg<RangeArg>().kind == LoopKind::Loop; }

// A thread's trips do as well.
bool follow_one_another(const Node* range) {
  return is_plain(range) || range->arg<RangeArg>().kind == LoopKind::Thread;
}

bool is_loop(const Node* range) {
  const LoopKind kind = range->arg<RangeArg>().kind;
  return kind == LoopKind::Loop || kind == LoopKind::Reduce;
}

std::int64_t size_of(const Node* range) { return range->src(0)->lo(); }

// The trip after the last is the last once more: no place is outside of the memory.
UOp next_trip(const Node* range) {
  const UOp last = UOp(range->src(0)) - 1;
  return where(UOp(range) < last, UOp(range) + 1, last);
}

// What a trip reads, in the order in which it lies.
class InTrip {
 public:
  InTrip(const Node* load, std::vector<const Node*> loops) : loops_(std::move(loops)) {
    const auto step = [&](const Node* range) { return first_step(load, range); };
    std::ranges::sort(loops_, std::greater<>(), step);
    std::int64_t run = 1;
    for (const Node* range : loops_ | std::views::reverse) {
      elements_ *= size_of(range);
      if (step(range) == run) run = elements_;
    }
    const auto line =
        std::max<std::int64_t>(bytes_of_line / static_cast<std::int64_t>(load->dtype().bytes()), 1);
    in_line_ = run % line == 0 ? line : std::min(run, line);
  }

  std::int64_t lines() const { return elements_ / in_line_; }

  // The trips of all loops where a line begins.
  Substitution begin_of(const UOp& line) const {
    Substitution trips;
    UOp rest = line * in_line_;
    for (const Node* range : loops_ | std::views::reverse) {
      const std::int64_t size = size_of(range);
      trips.emplace(range, range == loops_[0] ? rest : rest % size);
      rest = rest / size;
    }
    return trips;
  }

 private:
  std::vector<const Node*> loops_;  // the outermost where it lies first
  std::int64_t elements_ = 1, in_line_ = 1;
};

// Whether the value is computed of the read in the same loop, and not only after that of a reduction.
bool is_made_of(const Node* store, const Node* load) {
  std::vector<const Node*> open{store->src(1)};
  NodeMap<bool> seen;
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (node == load) return true;
    if (seen.contains(node) || OpSet{Op::Reduce, Op::After}.contains(node->op())) continue;
    seen.set(node, true);
    open.insert(open.end(), node->src().begin(), node->src().end());
  }
  return false;
}

}  // namespace

// Each trip of the loops that read takes its share of the lines, in as many of these loops as there are lines for.
UOp KernelLoops::read_ahead(const Action& action, const Node* load) {
  const Node* around = loop(action.at);
  if (!follow_one_another(around)) refuse(action, "trips that follow one another have a next one");
  if (!changes_with(load, around)) refuse(action, "the next trip reads the same");
  const std::vector<const Node*> all = closers();
  const Node* closer =
      *std::ranges::find_if(all, [&](const Node* node) { return depends_on(node, load); });
  const auto stands_in = [&](const Node* range) {
    return changes_with(closer, range) ||
           std::ranges::find(closer->src().subspan(1), range) != closer->src().end();
  };
  std::vector<const Node*> read, trips;
  for (const std::string& name : order_) {
    const Node* range = loop(name);
    if (!comes_before(around, range)) continue;
    if (!range->src(0)->is_const()) refuse(action, "a size is not known before it runs");
    if (changes_with(load, range)) read.push_back(range);
    if (is_loop(range) && stands_in(range)) trips.push_back(range);
  }
  const InTrip in_trip(load, read);
  UOp trip = const_int(0);
  std::int64_t count = 1;
  for (const Node* range : trips) {
    if (count * size_of(range) > in_trip.lines()) break;
    count *= size_of(range);
    trip = trip * size_of(range) + UOp(range);
  }
  const UOp place(load->src(0));
  std::vector<UOp> memory{UOp(place->src(0))}, there = list_of(place->src());
  const std::int64_t share = in_trip.lines() / count;
  for (std::int64_t i = 0; i < share; ++i) {
    Substitution at = in_trip.begin_of(trip * share + i);
    at.emplace(around, next_trip(around));
    memory.push_back(make(Op::Prefetch, {substitute(place, at)}));
  }
  there[0] = make(Op::After, memory);
  return make(Op::Load, {with_sources(place, there)});
}

// What several loops of a trip read one after the other comes from memory once, and where the last of them
// computes much, memory idles meanwhile: softmax of rows.
Schedule reads_ahead(const KernelLoops& loops, const Machine& machine) {
  const std::vector<NamedLoop> names = loops.names();
  if (names.empty() || machine.levels.size() < 2 || !is_plain(names[0].range)) return {};
  const auto& [name, range] = names[0];
  const double kept = machine.levels[1].bytes;
  const auto from_memory = [&](const NamedRead& read) {
    const Node* memory = storage_of(read.load->src(0)->src(0));
    double bytes = static_cast<double>(memory->dtype().bytes());
    for (const Node* size : memory->dims()) bytes *= static_cast<double>(size->bounds().hi);
    const double in_trip = bytes / static_cast<double>(range->src(0)->bounds().hi);
    return memory->op() == Op::Param && changes_with(read.load, range) && bytes > 2 * kept &&
           in_trip > machine.page && in_trip < kept / 4;
  };
  const std::vector<NamedRead> reads = loops.reads();
  for (const Node* store : toposort(loops.kernel().node())) {
    if (store->op() != Op::Store || ops_of(store->src(1)) < worth_a_prefetch) continue;
    for (const NamedRead& read : reads) {
      const auto is_again = [&](const NamedRead& other) {
        return other.load != read.load &&
               storage_of(other.load->src(0)->src(0)) == storage_of(read.load->src(0)->src(0));
      };
      if (is_made_of(store, read.load) && from_memory(read) && std::ranges::any_of(reads, is_again))
        return {{.type = Action::Prefetch, .name = read.name, .at = name}};
    }
  }
  return {};
}

}  // namespace weft
