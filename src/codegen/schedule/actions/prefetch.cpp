// PREFETCH: brings what the next iteration of a loop reads into the caches while this one computes.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/core.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/rules/symbolic.h>

#include "common/loops.h"
#include "fills.h"
#include "kernel_loops.h"
#include "schedule/search/nest_of.h"
#include "schedule/search/share.h"
#include "stores.h"

namespace weft {
namespace {

constexpr double worth_a_prefetch = 8;     // instructions per stored value
constexpr double reorder_window = 150;     // instructions per iteration
constexpr double min_window_accesses = 9;  // accesses per window

// Whether the stored value depends on the load within one iteration, rather than through a REDUCE
// or an AFTER.
bool is_stored_beside(const Node* store, const Node* load) {
  const auto beside = nodes_below({store->src(1)}, [](const Node* node) {
    return OpSet{Op::Reduce, Op::After}.contains(node->op()) ? NodeList{} : node->src();
  });
  return has_node(beside, load);
}

bool is_lane_loop(const Node* range) {
  return kind_of(range) == LoopKind::Vector || kind_of(range) == LoopKind::Dot;
}

}  // namespace

UOp next_iteration(const Node* range) {
  const UOp last = UOp(range->src(0)) - 1;
  return where(UOp(range) < last, UOp(range) + 1, last);
}

// After the last iteration of a tile's loop comes the first one of the next tile. The place is
// therefore clamped to the memory rather than to the loop, unless its indices are loaded or the
// dimensions of the memory are unknown.
UOp next_place(const Node* load, const Node* range) {
  const Node* place = load->src(0);
  const NodeList sizes = storage_of(place->src(0))->dims();
  const bool may_go_on = place->size() == sizes.size() + 2 && !has_loaded_indices(place);
  Substitution at{{range, may_go_on ? UOp(range) + 1 : next_iteration(range)}};
  for (const Node* own : load->ranges())
    if (is_lane_loop(own)) at.emplace(own, const_int(0, own->dtype()));
  std::vector<UOp> parts = list_of(substitute(UOp(place), at)->src());
  for (std::size_t i = 0; may_go_on && i < sizes.size(); ++i)
    if (changes_with(place->src(i + 2), range)) {
      const UOp last = UOp(sizes[i]) - 1;
      parts[i + 2] =
          max(where(parts[i + 2] < last, parts[i + 2], last), const_int(0, last->dtype()));
    }
  return make(Op::Index, parts);
}

namespace {

// Returns the read that the action names, or those reads of a param with several that depend on the
// loop.
std::vector<const Node*> reads_of(const Action& action, const std::vector<NamedRead>& reads,
                                  const Node* range) {
  std::vector<const Node*> loads;
  for (const auto& [name, load] : reads)
    if (name.starts_with(action.name + ".") && changes_with(load, range)) loads.push_back(load);
  return loads.empty() ? std::vector{read_named(action, reads)} : loads;
}

// Returns PREFETCHes of what the loads read in the next iteration, except what one of them reads in
// this iteration.
std::vector<UOp> prefetched(const std::vector<const Node*>& loads, const Node* range) {
  const auto places_of = [](const Node* place) {
    return std::vector(place->src().begin() + 2, place->src().end());
  };
  std::set<std::vector<const Node*>> now;
  for (const Node* load : loads) now.insert(places_of(load->src(0)));
  std::vector<UOp> places;
  for (const Node* load : loads) {
    const UOp next = simplify(substitute(UOp(load->src(0)), {{range, UOp(range) + 1}}));
    if (!now.contains(places_of(next.node())))
      places.push_back(make(Op::Prefetch, {next_place(load, range)}));
  }
  return places;
}

}  // namespace

// A PREFETCH is an additional source of a STORE, which keeps it in the kernel. PREFETCHes of packed
// data, of rows of matrix tiles, inside sums, and of outputs are placed before a read instead, once
// the loops are final.
void KernelLoops::prefetch(const Action& action) {
  const Node* range = loop(action.at);
  if (stored_as(action.name) != nullptr) return prefetched_.push_back(action);
  std::vector<const Node*> loads = reads_of(action, reads(), range);
  const Node* load = loads[0];
  const bool is_packed = std::ranges::any_of(stages_, [&](const Action& stage) {
    return stage.name == action.name && stage.space == Space::Constant;
  });
  if (is_packed || std::ranges::any_of(load->ranges(), is_range<LoopKind::Mma>))
    return prefetched_.push_back(action);
  if (!changes_with(load, range)) refuse(action, "the next iteration reads the same data");
  std::vector<const Node*> stores;
  for (const Node* node : toposort(kernel_.node()))
    if (node->op() == Op::Store && is_stored_beside(node, load)) stores.push_back(node);
  if (stores.empty() && loads.size() > 1)
    refuse(action, "no store in the same iteration depends on these reads");
  if (stores.empty()) return prefetched_.push_back(action);
  if (kind_of(range) != LoopKind::Loop)
    refuse(action, fmt::format("the iterations of {} are not sequential", action.at));
  std::erase_if(loads, [&](const Node* each) {  // those in loops that are not around the store
    return !changes_with_each_of(stores[0], each->ranges());
  });
  std::vector<UOp> src = list_of(stores[0]->src());
  std::ranges::move(prefetched(loads, range), std::back_inserter(src));
  replace(stores[0], with_sources(UOp(stores[0]), src));
}

// If several loops of an iteration read the same data, only the first of them reads it from memory.
// If the last of them computes much, memory is idle meanwhile. A softmax of rows is an example.
Schedule prefetch_next_reads(const KernelLoops& loops, const DeviceModel& machine) {
  const std::vector<NamedLoop> names = loops.names();
  if (names.empty() || machine.memory.size() < 2 || kind_of(names[0].range) != LoopKind::Loop)
    return {};
  const auto& [name, range] = names[0];
  const double kept = machine.memory[1].bytes;
  const auto from_memory = [&](const NamedRead& read) {
    const Node* memory = storage_of(read.load->src(0)->src(0));
    const double bytes = bytes_of_memory(memory);
    const double in_iteration = bytes / static_cast<double>(range->src(0)->bounds().hi);
    return memory->op() == Op::Param && changes_with(read.load, range) && bytes > 2 * kept &&
           in_iteration > machine.page && in_iteration < kept / 4;
  };
  const std::vector<NamedRead> reads = loops.reads();
  for (const Node* store : toposort(loops.kernel().node())) {
    if (store->op() != Op::Store || ops_of(store->src(1)) < worth_a_prefetch) continue;
    for (const NamedRead& read : reads) {
      const auto is_again = [&](const NamedRead& other) {
        return other.load != read.load &&
               storage_of(other.load->src(0)->src(0)) == storage_of(read.load->src(0)->src(0));
      };
      if (is_stored_beside(store, read.load) && from_memory(read) &&
          std::ranges::any_of(reads, is_again))
        return {{.type = Action::Prefetch, .name = read.name, .at = name}};
    }
  }
  return {};
}

namespace {

// Returns the loop with the smallest stride above 1, whose next iteration reads what is nearest to
// the current rows. Returns null if no loop has stride 1, or if an index is irregular.
const NestLoop* beside_rows(const Nest& nest, const NestAccess& access) {
  const NestLoop* nearest = nullptr;
  std::int64_t least = 0;
  bool has_rows = false;
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    const std::int64_t step = access.stride(i);
    if (access.irregular[i]) return nullptr;
    has_rows = has_rows || step == 1;
    if (step <= 1 || (nearest != nullptr && step >= least)) continue;
    nearest = &nest.loops[i];
    least = step;
  }
  return has_rows ? nearest : nullptr;
}

}  // namespace

Schedule prefetch_windows(const Nest& nest, const DeviceModel& machine) {
  if (nest.has_reduce() || machine.memory.size() < 2) return {};
  double instructions = 0;
  for (const NestOps& ops : nest.inner_ops) instructions += ops.instructions;
  if (instructions < reorder_window) return {};
  std::map<std::int32_t, std::vector<const NestAccess*>> windows;  // by PARAM
  for (const NestAccess& access : nest.accesses)
    if (!access.is_write && !access.is_index && access.storage->op() == Op::Param &&
        bytes_of(access) > machine.memory[1].bytes)
      windows[access.storage->arg<ParamArg>().slot].push_back(&access);
  Schedule ahead;
  for (const auto& [slot, accesses] : windows) {
    double places = 0;
    for (const NestAccess* access : accesses) places += access->places;
    if (places < min_window_accesses) continue;
    if (const NestLoop* loop = beside_rows(nest, *accesses[0]))
      ahead.push_back(
          {.type = Action::Prefetch, .name = fmt::format("p{}", slot), .at = loop->names[0]});
  }
  return ahead;
}

}  // namespace weft
