#include "mma_schedule.h"

#include <algorithm>
#include <string>
#include <tuple>

#include <weft/dev/codegen/choose.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/rules/symbolic.h>

#include "mma_packing.h"
#include "share.h"
#include "stores.h"

namespace weft {
namespace {

constexpr double cycles_to_finish = 12, cycles_apart = 3;  // for a vector of sums, or one

// What follows the sums, which goes along what it stores.
double cycles_behind(const MmaKernel& kernel, const MmaWay& way) {
  double elements = 1, cycles = 0;
  for (const Node* range : kernel.end()->src().subspan(1))
    elements *= static_cast<double>(MmaKernel::size_in(way, range));
  for (const Node* store : stores_of(kernel.end())) {
    const bool is_run = store->op() == Op::Store && stride_of(store, way.column_range) == 1;
    cycles += is_run ? 4 * cycles_to_finish / kernel.target().machine.vector_bytes : cycles_apart;
  }
  return elements * cycles;
}

MmaDraft tiles(const MmaKernel& kernel, const MmaWay& way, std::int64_t together) {
  const auto& [rows, columns] = way.block;
  MmaDraft draft{{},
                 kernel.trips(way) / static_cast<double>(rows * columns * way.shape.depth) *
                         cycles_of(way.shape, way.block, kernel.target().machine) +
                     cycles_behind(kernel, way)};
  const auto add = [&](Action action) { draft.actions.push_back(std::move(action)); };
  const std::tuple<std::string, const Node*, std::int64_t> loops[] = {
      {way.row, way.row_range, rows},
      {way.column, way.column_range, columns},
      {way.depth, way.depth_range, way.shape.depth}};
  bool shifts = false;
  for (const auto& [name, range, count] : loops) {
    if (range->src(0)->lo() % count == 0) continue;
    if (range == way.row_range && kernel.shifts(way))
      shifts = true;
    else
      add({.type = Action::Pad, .name = name, .count = count, .tail = Tail::Mask});
  }
  add({.type = Action::Tile,
       .name = way.row,
       .count = rows,
       .tail = shifts ? Tail::Shift : Tail::None});
  add({.type = Action::Tile, .name = way.column, .count = columns * together});
  add({.type = Action::Tile, .name = way.column + ".1", .count = columns});
  add({.type = Action::Mma,
       .name = way.depth,
       .loops = {way.row + ".1", way.column + ".2"},
       .at = std::string(way.shape.name)});
  add({.type = Action::Order, .name = {}, .loops = kernel.output_loops(way)});
  if (const auto sum = kernel.sum_loops(way); sum.size() > 1)
    add({.type = Action::Order, .name = {}, .loops = sum});
  return draft;
}

// Among threads, by the outermost loop.
MmaSchedule shared(const MmaKernel& kernel, MmaDraft draft, const MmaWay& way,
                   std::int64_t together) {
  const Machine& machine = kernel.target().machine;
  const std::string outermost = kernel.output_loops(way)[0];
  const double trips = kernel.trips_of(way, outermost) /
                       (outermost == way.column ? static_cast<double>(together) : 1);
  double seconds = draft.cycles / machine.hertz;
  if (machine.workers > 1 && seconds > worth_threads && trips > 1) {
    draft.actions.push_back({.type = Action::Kind, .name = outermost, .kind = LoopKind::Thread});
    seconds = seconds / machine.workers + machine.launch;
  }
  return {std::move(draft.actions), seconds};
}

std::optional<MmaSchedule> best_of(const MmaKernel& kernel, bool has_regions) {
  std::optional<MmaSchedule> best;
  for (const MmaWay& way : kernel.ways()) {
    const std::int64_t together = blocks_together(kernel, way);
    if (together == 0) continue;
    MmaDraft draft = tiles(kernel, way, together);
    pack_columns(kernel, way, draft);
    if (!pack_rows(kernel, way, together, has_regions, draft)) continue;
    MmaSchedule made = shared(kernel, std::move(draft), way, together);
    if (!best || made.seconds < best->seconds) best = std::move(made);
  }
  return best;
}

// A region may leave something to ask of what it reads, which no fragment can.
bool leaves_conditions(const Node* kernel, const Schedule& schedule) {
  if (std::ranges::none_of(schedule, &Action::by_region)) return false;
  const UOp made = apply_schedule(UOp(kernel), schedule);
  return std::ranges::any_of(toposort(made.node()), [](const Node* node) {
    return node->op() == Op::Index && node->src(0)->op() == Op::Stage &&
           !simplify(UOp(node->src(1)))->is_const_int(1);
  });
}

}  // namespace

std::optional<MmaSchedule> mma_schedule(const Node* kernel, const Target& target) {
  if (target.mma.empty() || kernel->size() != 1 || kernel->src(0)->op() != Op::End)
    return std::nullopt;
  const MmaKernel product(kernel, target);
  if (product.sum() == nullptr) return std::nullopt;
  auto best = best_of(product, true);
  if (best && leaves_conditions(kernel, best->schedule)) best = best_of(product, false);
  return best;
}

}  // namespace weft
