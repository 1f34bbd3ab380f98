// PREFETCH: what the next trip of a loop reads comes into the caches while this one computes.

#include <algorithm>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "kernel_loops.h"
#include "nest_of.h"
#include "share.h"

namespace weft {
namespace {

constexpr double worth_a_prefetch = 8;  // instructions that a value takes beside it

// What is stored in the trip that reads, and not only after the loop of a reduction.
bool is_stored_beside(const Node* store, const Node* load) {
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

bool is_plain(const Node* range) { return range->arg<RangeArg>().kind == LoopKind::Loop; }
bool is_of_tile(const Node* range) { return range->arg<RangeArg>().kind == LoopKind::Mma; }

// Whether its indices are read themselves.
bool reads_to_find(const Node* place) {
  return std::ranges::any_of(toposort(place->src().subspan(1)),
                             [](const Node* node) { return node->op() == Op::Load; });
}

bool is_at_once(const Node* range) {
  const LoopKind kind = range->arg<RangeArg>().kind;
  return kind == LoopKind::Vector || kind == LoopKind::Dot;
}

}  // namespace

UOp trip_after(const Node* range) {
  const UOp last = UOp(range->src(0)) - 1;
  return where(UOp(range) < last, UOp(range) + 1, last);
}

// Trips of a tile's loop go on in the next tile, where the place says where the memory ends.
UOp place_ahead(const Node* load, const Node* range) {
  const Node* place = load->src(0);
  const NodeList sizes = storage_of(place->src(0))->dims();
  const bool may_go_on = place->size() == sizes.size() + 2 && !reads_to_find(place);
  Substitution at{{range, may_go_on ? UOp(range) + 1 : trip_after(range)}};
  for (const Node* own : load->ranges())
    if (is_at_once(own)) at.emplace(own, const_int(0, own->dtype()));
  std::vector<UOp> parts;
  for (const Node* part : place->src()) parts.push_back(substitute(UOp(part), at));
  for (std::size_t i = 0; may_go_on && i < sizes.size(); ++i)
    if (changes_with(place->src(i + 2), range)) {
      const UOp last = UOp(sizes[i]) - 1;
      parts[i + 2] =
          max(where(parts[i + 2] < last, parts[i + 2], last), const_int(0, last->dtype()));
    }
  return make(Op::Index, parts);
}

// It stands among what a store waits for: nothing else keeps it in the kernel. Of what is packed, of tiles, and in sums it
// stands before the read itself, once the loops are what they will be.
void KernelLoops::prefetch(const Action& action) {
  const Node *load = read_named(action, reads()), *range = loop(action.at);
  const bool is_packed = std::ranges::any_of(stages_, [&](const Action& stage) {
    return stage.name == action.name && stage.space == Space::Constant;
  });
  if (is_packed || std::ranges::any_of(load->ranges(), is_of_tile))
    return announced_.push_back(action);
  if (!changes_with(load, range)) refuse(action, "the next trip reads the same");
  std::vector<const Node*> stores;
  for (const Node* node : toposort(kernel_.node()))
    if (node->op() == Op::Store && is_stored_beside(node, load)) stores.push_back(node);
  if (stores.empty()) return announced_.push_back(action);
  if (!is_plain(range)) refuse(action, "trips that follow one another have a next one");
  std::vector<UOp> src;
  for (const Node* source : stores[0]->src()) src.emplace_back(source);
  src.push_back(make(Op::Prefetch, {place_ahead(load, range)}));
  replace(stores[0], with_sources(UOp(stores[0]), src));
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
      if (is_stored_beside(store, read.load) && from_memory(read) &&
          std::ranges::any_of(reads, is_again))
        return {{.type = Action::Prefetch, .name = read.name, .at = name}};
    }
  }
  return {};
}

}  // namespace weft
