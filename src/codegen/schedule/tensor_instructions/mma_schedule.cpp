#include "mma_schedule.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <weft/dev/base/size_limits.h>
#include <weft/dev/codegen/choose.h>
#include <weft/dev/device/mma.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>
#include <weft/dev/rules/symbolic.h>

#include "mma_merges.h"
#include "mma_packing.h"
#include "schedule/actions/stores.h"
#include "schedule/search/share.h"

namespace weft {
namespace {

constexpr double most_prefetched = 4096;                   // bytes of a block
constexpr double cycles_to_finish = 12, cycles_apart = 3;  // per vector of sums, or per sum

// Returns the cycles of the epilogue, which is vectorised if it stores along the columns.
double epilogue_cycles(const MmaKernel& kernel, const MmaTiling& tiling) {
  double elements = 1, cycles = 0;
  for (const Node* range : kernel.end()->src().subspan(1))
    elements *= static_cast<double>(MmaKernel::padded_size(tiling, range));
  for (const Node* store : stores_of(kernel.end())) {
    const bool is_run = store->op() == Op::Store && stride_of(store, tiling.column_range) == 1;
    cycles += is_run ? 4 * cycles_to_finish / kernel.target().machine.vector_bytes : cycles_apart;
  }
  return elements * cycles;
}

double bytes_of(const Node* memory) {
  double bytes = memory->dtype().bytes();
  for (const Node* size : memory->dims()) bytes *= static_cast<double>(size->bounds().hi);
  return bytes;
}

class DraftBuilder {
 public:
  DraftBuilder(const MmaKernel& kernel, const MmaTiling& tiling)
      : kernel_(kernel), tiling_(tiling) {}

  MmaDraft tiles() {
    const auto& [rows, columns] = tiling_.block;
    draft_.cycles = kernel_.iterations(tiling_) /
                        static_cast<double>(rows * columns * tiling_.shape.depth) *
                        cycles_of(tiling_.shape, tiling_.block, kernel_.target().machine) +
                    epilogue_cycles(kernel_, tiling_);
    if (tiling_.depth_range->src(0)->lo() % tiling_.shape.depth != 0)
      pad(tiling_.depth, tiling_.shape.depth);
    cut(tiling_.row, tiling_.row_range, rows, tiling_.groups_rows);
    cut(tiling_.column, tiling_.column_range, columns, !tiling_.groups_rows);
    const bool is_plain = tiling_.shape.rows == find_mma(tiling_.shape.name)->rows_for(rows);
    add({.type = Action::Mma,
         .name = tiling_.depth,
         .count = is_plain ? 0 : tiling_.shape.rows,
         .loops = {tiling_.rows_of_block(), tiling_.columns_of_block()},
         .at = std::string(tiling_.shape.name)});
    add({.type = Action::Order, .name = {}, .loops = kernel_.output_loops(tiling_)});
    if (const auto sum = kernel_.sum_loops(tiling_); sum.size() > 1)
      add({.type = Action::Order, .name = {}, .loops = sum});
    if (tiling_.shape.rows > 1 && are_lanes()) {
      add({.type = Action::Kind, .name = tiling_.columns_of_block(), .kind = LoopKind::Vector});
      prefetch_beside_sums();
    }
    return std::move(draft_);
  }

 private:
  // Returns whether the epilogue handles all columns of a block at once. Independent vectors then
  // hide each other's latency.
  bool are_lanes() const {
    const auto stores = stores_of(kernel_.end());
    return tiling_.column_range->src(0)->lo() % tiling_.block.columns == 0 &&
           std::ranges::all_of(stores, [&](const Node* store) {
             return store->op() == Op::Store && stride_of(store, tiling_.column_range) == 1;
           });
  }

  // Prefetches for the epilogue while tiles are multiplied, since it would wait for each row: the
  // cache line where each row of the next block's reads begins, and the lines that this block
  // stores.
  void prefetch_beside_sums() {
    const auto& levels = kernel_.target().machine.memory;
    const std::string around = tiling_.around(),
                      other = tiling_.groups_rows ? tiling_.column : tiling_.row;
    const std::string loop = tiling_.blocks_in_group > 1 ? around + ".1" : other;
    const bool has_next = tiling_.blocks_in_group > 1 || kernel_.iterations_of(tiling_, other) > 1;
    if (levels.empty()) return;
    const auto sums = static_cast<double>(MmaKernel::padded_size(tiling_, tiling_.row_range) *
                                          MmaKernel::padded_size(tiling_, tiling_.column_range));
    for (const auto& [name, load] : kernel_.epilogue_reads(tiling_))
      if (has_next && sums * static_cast<double>(load->dtype().bytes()) > levels[0].bytes)
        add({.type = Action::Prefetch, .name = name, .at = loop});
    prefetch_stores();
  }

  // Prefetches the lines that a block stores, if the output does not fit in a core's own cache.
  void prefetch_stores() {
    const auto& levels = kernel_.target().machine.memory;
    const NodeList stores = stores_of(kernel_.end());
    const Node* memory = storage_of(stores[0]->src(0)->src(0));
    const auto& [rows, columns] = tiling_.block;
    const auto bytes = static_cast<double>(rows * columns) * memory->dtype().bytes();
    if (levels.size() < 2 || stores.size() > 1 || memory->op() != Op::Param ||
        bytes_of(memory) < levels[levels.size() - 2].bytes || bytes > most_prefetched)
      return;
    const std::string name = fmt::format("p{}", memory->arg<ParamArg>().slot);
    const auto beside = kernel_.epilogue_reads(tiling_);
    if (std::ranges::find(beside, name, &MmaFactor::name) != beside.end()) return;  // also read
    const auto loops = kernel_.output_loops(tiling_);
    add({.type = Action::Prefetch,
         .name = name,
         .at = loops[loops.size() - (tiling_.blocks_in_group > 1 ? 3 : 4)]});
  }

  void add(Action action) { draft_.actions.push_back(std::move(action)); }
  void pad(const std::string& name, std::int64_t count) {
    add({.type = Action::Pad, .name = name, .count = count, .tail = Tail::Mask});
  }

  void cut(const std::string& name, const Node* range, std::int64_t block, bool is_around) {
    const std::int64_t count = block * (is_around ? tiling_.blocks_in_group : 1);
    const bool is_whole = range->src(0)->lo() % count == 0;
    const bool shifts_last_block =
        !is_whole && range == tiling_.row_range && kernel_.shifts_last_block(tiling_);
    if (!is_whole && !shifts_last_block) pad(name, count);
    add({.type = Action::Tile,
         .name = name,
         .count = count,
         .tail = shifts_last_block ? Tail::Shift : Tail::None});
    if (is_around) add({.type = Action::Tile, .name = name + ".1", .count = block});
  }

  const MmaKernel& kernel_;
  const MmaTiling& tiling_;
  MmaDraft draft_;
};

// Divides the outermost loop among threads if there is enough work.
MmaSchedule shared(const MmaKernel& kernel, MmaDraft draft, const MmaTiling& tiling) {
  const DeviceModel& machine = kernel.target().machine;
  const std::string outermost = kernel.output_loops(tiling)[0];
  const double iterations =
      kernel.iterations_of(tiling, outermost) /
      (outermost == tiling.around() ? static_cast<double>(tiling.blocks_in_group) : 1);
  double seconds = draft.cycles / machine.hertz;
  if (machine.workers() > 1 && seconds > least_work(worth_threads) && iterations > 1) {
    draft.actions.push_back({.type = Action::Kind, .name = outermost, .kind = LoopKind::Thread});
    seconds = seconds / machine.workers() + machine.launch();
  }
  return {std::move(draft.actions), seconds};
}

// Returns the tiling with different group sizes, in blocks of columns or of rows.
std::vector<MmaTiling> groupings(const MmaKernel& kernel, MmaTiling tiling) {
  std::vector<MmaTiling> all;
  for (const std::int64_t blocks_in_group : counts_together(kernel, tiling)) {
    tiling.blocks_in_group = blocks_in_group;
    all.push_back(tiling);
  }
  if (tiling.shape.rows == 1 || !can_prepack(tiling.b.load)) return all;
  tiling.groups_rows = true;
  for (const std::int64_t blocks_in_group : {1, 2, 4, 8}) {
    tiling.blocks_in_group = blocks_in_group;
    all.push_back(tiling);
    if (static_cast<double>(blocks_in_group) >= kernel.iterations_of(tiling, tiling.row)) break;
  }
  return all;
}

std::optional<MmaSchedule> best_of(const MmaKernel& kernel, bool has_regions) {
  std::optional<MmaSchedule> best;
  for (const MmaTiling& each : kernel.tilings())
    for (const MmaTiling& tiling : groupings(kernel, each)) {
      MmaDraft draft = DraftBuilder(kernel, tiling).tiles();
      pack_columns(kernel, tiling, draft);
      if (!pack_rows(kernel, tiling, has_regions, draft)) continue;
      MmaSchedule made = shared(kernel, std::move(draft), tiling);
      if (!best || made.seconds < best->seconds) best = std::move(made);
    }
  return best;
}

// Returns whether reads of a staged region keep a condition, which fragments cannot have.
bool leaves_conditions(const Node* kernel, const Schedule& schedule) {
  if (std::ranges::none_of(schedule, &Action::by_region)) return false;
  const UOp made = apply_schedule(UOp(kernel), schedule);
  return std::ranges::any_of(toposort(made.node()), [](const Node* node) {
    return node->op() == Op::Index && node->src(0)->op() == Op::Stage &&
           !simplify(UOp(node->src(1)))->is_const_int(1);
  });
}

// Returns the best schedule that begins with these merges.
std::optional<MmaSchedule> best_after(const Schedule& merges, KernelLoops loops, const Node* kernel,
                                      const Target& target) {
  loops.apply(merges);
  const MmaKernel product(std::move(loops), target);
  if (product.sum() == nullptr) return std::nullopt;
  const auto from_kernel = [&](bool has_regions) {
    auto best = best_of(product, has_regions);
    if (best) best->schedule.insert(best->schedule.begin(), merges.begin(), merges.end());
    return best;
  };
  auto best = from_kernel(true);
  if (best && leaves_conditions(kernel, best->schedule)) best = from_kernel(false);
  return best;
}

bool is_of_tiles(const MmaShape& shape) { return shape.rows > 1; }

}  // namespace

std::optional<MmaSchedule> mma_schedule(const Node* kernel, const Target& target) {
  if (target.mma.empty() || kernel->size() != 1 || kernel->src(0)->op() != Op::End)
    return std::nullopt;
  const KernelLoops loops{UOp(kernel)};
  auto best = best_after({}, loops, kernel, target);
  if (!best || std::ranges::none_of(target.mma, is_of_tiles)) return best;
  for (const Schedule& merges : tile_filling_merges(loops)) {
    auto other = best_after(merges, loops, kernel, target);
    if (other && other->seconds < best->seconds) best = std::move(other);
  }
  return best;
}

}  // namespace weft
