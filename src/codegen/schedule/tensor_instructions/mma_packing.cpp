#include "mma_packing.h"

#include <algorithm>
#include <numeric>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/cost/nest.h>
#include <weft/dev/ir/graph.h>

#include "mma_traffic.h"

namespace weft {
namespace {

constexpr double most_scratch = 0.5;                              // share for packed columns
constexpr double most_of_rows = 0.25, most_of_rows_alone = 0.75;  // the same for rows
constexpr double least_share_of_l1 = 1.0 / 3;                     // share of L1 that a group fills
constexpr std::int64_t bytes_of_way = 4096, lines_of_set = 4;     // of a cache, usable by rows
constexpr std::int64_t bytes_near = 1024;                         // between rows that are near
constexpr double cycles_of_far_rows = 4, cycles_in_one_set = 16;  // extra cycles per tile
// Per element.
constexpr double cycles_to_copy = 0.1, cycles_to_pack = 0.5, cycles_to_transpose = 2;

class Packing {
 public:
  Packing(const MmaKernel& kernel, const MmaTiling& tiling)
      : kernel_(kernel),
        tiling_(tiling),
        traffic_(kernel, tiling),
        loops_(kernel.output_loops(tiling)) {}

  void columns(MmaDraft& draft) const {
    const MmaFactor& b = tiling_.b;
    if (can_prepack(b.load)) {
      draft.actions.push_back(prepack(b, "b1", true));
      draft.cycles += traffic_.cycles_to_stream_again();
      const double streaming = traffic_.cycles_to_stream();
      const auto prefetched = traffic_.prefetched_columns();
      if (prefetched) {
        draft.cycles = std::max(draft.cycles, streaming) + streaming / prefetched->iterations;
        draft.actions.push_back({.type = Action::Prefetch, .name = b.name, .at = prefetched->loop});
      } else {
        draft.cycles += streaming;
      }
      return;
    }
    Action pack{.type = Action::Stage, .name = b.name, .at = tiling_.column};
    pack.loops = packed_layout(b.load, "b1", true);
    pack.loops.insert(pack.loops.begin(), tiling_.column + ".1");
    draft.actions.push_back(pack);
    draft.cycles +=
        kernel_.elements_of(b.load, tiling_) * kernel_.blocks(tiling_) /
        traffic_.uses_of_columns() *
        (stride_of(b.load, tiling_.column_range) == 1 ? cycles_to_pack : cycles_to_transpose);
  }

  bool rows(bool has_regions, MmaDraft& draft) const {
    const MmaFactor& a = tiling_.a;
    const auto blocks_in_group = static_cast<double>(tiling_.blocks_in_group);
    if (can_prepack_rows()) {
      draft.actions.push_back(prepack(a, "b0", false));
      draft.cycles += traffic_.cycles_to_stream_rows();
      return true;
    }
    if (has_regions && needs_region()) return stage_region(1 / blocks_in_group, draft);
    if (!needs_packing()) {
      draft.cycles += cycles_far_apart();
      const double again = traffic_.cycles_to_read_again();
      if (traffic_.prefetches_rows()) {
        draft.cycles = std::max(draft.cycles, again);
        draft.actions.push_back({.type = Action::Prefetch, .name = a.name, .at = tiling_.row});
      } else {
        draft.cycles += again;
      }
      return true;
    }
    const double elements = kernel_.elements_of(a.load, tiling_);
    if (!has_room(elements * (tiling_.groups_rows ? blocks_in_group : 1))) return false;
    Action pack{.type = Action::Stage,
                .name = a.name,
                .loops = packed_layout(a.load, "b0", false),
                .at = tiling_.row,
                .decoded = is_widened()};
    if (tiling_.groups_rows) pack.loops.insert(pack.loops.begin(), tiling_.row + ".1");
    draft.actions.push_back(pack);
    const double columns = tiling_.groups_rows ? kernel_.iterations_of(tiling_, tiling_.column)
                                               : blocks_in_group;  // that share one packing
    draft.cycles += elements * kernel_.blocks(tiling_) / columns * cycles_to_stage();
    return true;
  }

 private:
  // Returns the loops of a packed factor, outermost first. Fragments are contiguous. Those of a
  // block are adjacent in each depth step, but rows that the kernel itself packs have all their
  // depth together.
  std::vector<std::string> packed_layout(const Node* load, const std::string& own,
                                         bool is_column) const {
    std::vector<std::string> order;
    for (const std::string& name : kernel_.sum_loops(tiling_))
      if (changes_with(load, kernel_.range_of(name))) order.push_back(name);
    order.insert(is_column || can_prepack_rows() ? order.end() : order.begin(), own);
    const bool has_parts = tiling_.shape.depth > tiling_.shape.group;
    std::vector<std::string> inside;
    if (has_parts) inside.push_back(tiling_.depth + ".1");
    if (is_column || tiling_.shape.rows > 1)
      inside.insert(is_column ? inside.end() : inside.begin(), own + ".1");
    inside.push_back(tiling_.depth + (has_parts ? ".2" : ".1"));
    order.insert(order.end(), inside.begin(), inside.end());
    return order;
  }

  // Prepacks a factor for all output loops that it changes with.
  Action prepack(const MmaFactor& factor, const std::string& own, bool is_column) const {
    Action pack{.type = Action::Stage, .name = factor.name, .space = Space::Constant};
    for (const std::string& name : loops_)
      if (name != tiling_.rows_of_block() && name != tiling_.columns_of_block() &&
          changes_with(factor.load, kernel_.range_of(name.substr(0, name.find('.')))))
        pack.loops.push_back(name);
    const std::vector<std::string> inside = packed_layout(factor.load, own, is_column);
    pack.loops.insert(pack.loops.end(), inside.begin(), inside.end());
    return pack;
  }

  bool has_more(const Node* range) const {
    return MmaKernel::padded_size(tiling_, range) != range->src(0)->lo();
  }
  bool has_padded_rows() const {
    return has_more(tiling_.row_range) && !kernel_.shifts_last_block(tiling_);
  }

  bool is_widened() const { return tiling_.shape.widens(tiling_.a.load->dtype()); }
  bool can_prepack_rows() const { return can_prepack(tiling_.a.load) && !is_widened(); }

  // Returns the cycles per element of rows. Rows that are only widened keep their order.
  double cycles_to_stage() const {
    if (first_step(tiling_.a.load, tiling_.depth_range) != 1) return cycles_to_transpose;
    return is_widened() ? cycles_to_copy : cycles_to_pack;
  }

  bool needs_packing() const {
    const Node* load = tiling_.a.load;
    const bool is_tile = tiling_.shape.rows > 1;
    return has_padded_rows() || is_widened() ||
           (is_tile && stride_in_parts(load, tiling_.row_range, tiling_.shape.rows) == 0) ||
           has_more(tiling_.depth_range) ||
           stride_in_parts(load, tiling_.depth_range, tiling_.shape.depth) != 1 ||
           !load->src(0)->src(1)->is_const_int(1) || rows_conflict();
  }

  // Returns the extra cycles of tiles whose rows are far apart, or in one cache set.
  double cycles_far_apart() const {
    if (tiling_.shape.rows == 1) return 0;
    const Node* load = tiling_.a.load;
    const std::int64_t apart = stride_in_parts(load, tiling_.row_range, tiling_.shape.rows) *
                               static_cast<std::int64_t>(load->dtype().bytes());
    const double for_tile = apart % bytes_of_way == 0 ? cycles_in_one_set
                            : apart > bytes_near      ? cycles_of_far_rows
                                                      : 0;
    return kernel_.iterations(tiling_) /
           static_cast<double>(tiling_.shape.rows * tiling_.block.columns * tiling_.shape.depth) *
           for_tile;
  }

  // Returns whether the rows of a block map to too few cache sets. Tiles are exempt, since copying
  // them takes longer than waiting for their lines.
  bool rows_conflict() const {
    if (tiling_.shape.rows > 1) return false;
    const Node* load = tiling_.a.load;
    const std::int64_t apart =
        stride_of(load, tiling_.row_range) * static_cast<std::int64_t>(load->dtype().bytes());
    const std::int64_t sets =
        bytes_of_way / std::gcd(std::max<std::int64_t>(apart, 1), bytes_of_way);
    return tiling_.block.rows > lines_of_set * sets;
  }

  // Returns whether rows are windows to be staged as a region: they reach into padding, which the
  // region includes, or they overlap and are widened.
  bool needs_region() const {
    const Node* load = tiling_.a.load;
    const bool are_shared = is_widened() && kernel_.sum_loops(tiling_).size() > 1;
    return tiling_.shape.rows == 1 && !has_padded_rows() && !has_more(tiling_.depth_range) &&
           stride_of(load, tiling_.depth_range) == 1 && load->size() == 1 &&
           (are_shared || is_masked());
  }
  bool is_masked() const { return tiling_.a.load->src(0)->src(1)->op() != Op::Const; }

  // Stages the region of the rows in the innermost loop around them that they change with.
  bool stage_region(double times, MmaDraft& draft) const {
    const Node* load = tiling_.a.load;
    std::string at = tiling_.row;
    for (const std::string& name : loops_) {
      if (name == tiling_.row) break;
      if (name != tiling_.column && changes_with(load, kernel_.range_of(name))) at = name;
    }
    Substitution around;
    for (const std::string& name : loops_) {
      times *= kernel_.iterations_of(tiling_, name);
      if (name != tiling_.column && name != tiling_.row)
        around.emplace(kernel_.range_of(name), const_int(0));
      if (name == at) break;
    }
    double elements = 1;
    const NodeList indices = load->src(0)->src().subspan(2);
    for (const Node* index : indices) {
      const auto bounds = substitute(UOp(index), around)->bounds();
      const auto extent = static_cast<std::int64_t>(bounds.hi - bounds.lo + 1);
      const bool is_row = index == indices.back() && is_masked();
      elements *= static_cast<double>(is_row ? region_row(extent, bytes_of_rows()) : extent);
    }
    if (!has_room(elements)) return false;
    draft.actions.push_back({.type = Action::Stage,
                             .name = tiling_.a.name,
                             .at = at,
                             .by_region = true,
                             .decoded = is_widened()});
    draft.cycles += elements * times * cycles_to_copy;
    return true;
  }

  std::int64_t bytes_of_rows() const { return static_cast<std::int64_t>(tiling_.shape.a.bytes()); }

  bool has_room(double elements) const {
    const double most = tiling_.groups_rows ? most_of_rows_alone : most_of_rows;
    return elements * static_cast<double>(bytes_of_rows()) <=
           most * static_cast<double>(kernel_.target().scratch_bytes);
  }

  const MmaKernel& kernel_;
  const MmaTiling& tiling_;
  MmaTraffic traffic_;
  std::vector<std::string> loops_;
};

}  // namespace

// The largest group that fits comes first. Smaller groups of prepacked columns may be better, since
// the first group is not prefetched. Groups that fill too little of L1 only reread rows more often.
std::vector<std::int64_t> counts_together(const MmaKernel& kernel, const MmaTiling& tiling) {
  const Node* load = tiling.b.load;
  const double bytes = bytes_in_block(kernel, tiling, load);
  const auto& levels = kernel.target().machine.memory;
  const double near = levels.empty() ? 0 : levels[0].bytes;
  const auto blocks = static_cast<std::int64_t>(kernel.iterations_of(tiling, tiling.column));
  const double room = static_cast<double>(kernel.target().scratch_bytes) * most_scratch;
  const std::int64_t workers =
      kernel.output_loops(tiling)[0] == tiling.column ? kernel.target().machine.workers() : 1;
  // If rows stay in the cache, a group needs no more packed columns than fill L1.
  const bool is_one =
      !can_prepack(load) && tiling.shape.rows > 1 && rows_fit(kernel, tiling) && bytes > near / 4;
  const std::int64_t most = is_one ? 1 : std::max<std::int64_t>(blocks / workers, 1);
  std::int64_t best = can_prepack(load) ? 1 : 0;  // prepacked columns need no room
  for (std::int64_t count = 1; count <= most; ++count)
    if (blocks % count == 0 && static_cast<double>(count) * bytes <= room) best = count;
  std::vector<std::int64_t> counts;
  if (best > 0) counts.push_back(best);
  if (tiling.shape.rows == 1 || !can_prepack(load)) return counts;
  for (std::int64_t count = best - 1; count > 0; --count)
    if (blocks % count == 0 && bytes * static_cast<double>(count) >= least_share_of_l1 * near)
      counts.push_back(count);
  return counts;
}

void pack_columns(const MmaKernel& kernel, const MmaTiling& tiling, MmaDraft& draft) {
  Packing(kernel, tiling).columns(draft);
}

bool pack_rows(const MmaKernel& kernel, const MmaTiling& tiling, bool has_regions,
               MmaDraft& draft) {
  return Packing(kernel, tiling).rows(has_regions, draft);
}

}  // namespace weft
