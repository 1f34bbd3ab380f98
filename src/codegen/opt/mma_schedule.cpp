#include "mma_schedule.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "kernel_loops.h"
#include "mma.h"
#include "share.h"

namespace weft {
namespace {

// Of an instruction: tiles have eight registers, four of which are sums.
constexpr double cycles_of_product = 16;
constexpr double stalls = 1.5;        // of what tiles are read, which caches bring in
constexpr double most_scratch = 0.5;  // for what is packed of columns
constexpr std::int64_t bytes_of_way = 1024;
constexpr double cycles_to_pack = 0.5, cycles_to_turn = 2;  // for each element

std::int64_t size_of(const Node* range) {
  return range->src(0)->is_const() ? range->src(0)->lo() : 0;
}

// Elements between one trip and the next; 0 where it is not always as many.
std::int64_t stride_of(const Node* load, const Node* range) {
  const Node *place = load->src(0), *storage = storage_of(place->src(0));
  std::int64_t stride = 0, apart = 1;
  for (std::size_t i = place->size(); i-- > 2;) {
    const Node* size = storage->dims()[i - 2];
    if (place->src(i) == range)
      stride += apart;
    else if (changes_with(place->src(i), range))
      return 0;
    if (!size->is_const()) return stride;
    apart *= size->lo();
  }
  return stride;
}

// What is chosen: the loops of an instruction, and the reads that it multiplies.
struct Way {
  MmaShape shape;
  std::string row, column, depth;
  const Node *row_range, *column_range, *depth_range;
};

class MmaSchedules {
 public:
  MmaSchedules(const Node* kernel, const Target& target)
      : target_(target), loops_{UOp(kernel)}, end_(kernel->src(0)) {
    for (const Node* node : toposort(kernel))
      if (node->op() == Op::Reduce) sums_.push_back(node);
  }

  std::optional<MmaSchedule> best() const {
    std::optional<MmaSchedule> best;
    if (sums_.size() != 1 || sums_[0]->src(0)->op() != Op::Mul) return best;
    const std::vector<NamedLoop> names = loops_.names();
    for (const MmaShape& shape : target_.mma)
      for (const NamedLoop& row : names)
        for (const NamedLoop& column : names)
          for (const NamedLoop& depth : names) {
            const Way way{shape,     row.name,     column.name, depth.name,
                          row.range, column.range, depth.range};
            if (!is_possible(way)) continue;
            if (auto made = schedule(way); made && (!best || made->seconds < best->seconds))
              best = std::move(made);
          }
    return best;
  }

 private:
  const Node* sum() const { return sums_[0]; }

  static bool is_among(NodeList ranges, const Node* range) {
    return std::ranges::find(ranges, range) != ranges.end();
  }

  bool is_possible(const Way& way) const {
    const NodeList outer = end_->src().subspan(1), inner = sum()->src().subspan(1);
    return is_among(outer, way.row_range) && is_among(outer, way.column_range) &&
           is_among(inner, way.depth_range) && way.row_range != way.column_range &&
           size_of(way.row_range) > 0 && size_of(way.column_range) > 0 &&
           size_of(way.depth_range) > 0 &&
           is_product_for(sum(), way.shape, way.row_range, way.column_range);
  }

  // Trips of a loop, with those that fill up its last tile.
  static std::int64_t padded(const Node* range, std::int64_t tile) {
    return (size_of(range) + tile - 1) / tile * tile;
  }
  static std::int64_t size_in(const Way& way, const Node* range) {
    if (range == way.row_range) return padded(range, way.shape.rows);
    if (range == way.column_range) return padded(range, way.shape.columns);
    return range == way.depth_range ? padded(range, way.shape.depth) : size_of(range);
  }

  // Two tiles where they divide the loop.
  static std::int64_t block_of(const Way& way, const Node* range, std::int64_t tile) {
    return size_in(way, range) % (2 * tile) == 0 ? 2 * tile : tile;
  }

  struct Factor {
    std::string name;
    const Node* load = nullptr;
  };

  std::optional<Factor> factor(const Node* changing) const {
    for (const auto& [name, load] : loops_.reads())
      if (changes_with(load, changing) && depends_on(sum()->src(0), load))
        return Factor{name, load};
    return std::nullopt;
  }

  // Of the reduction, in all loops of the sum.
  double elements_of(const Node* load, const Way& way) const {
    double count = 1;
    for (const Node* range : sum()->src().subspan(1))
      if (changes_with(load, range)) count *= static_cast<double>(size_in(way, range));
    return count * static_cast<double>(changes_with(load, way.column_range)
                                           ? block_of(way, way.column_range, way.shape.columns)
                                           : block_of(way, way.row_range, way.shape.rows));
  }

  double trips(const Way& way) const {
    double count = 1;
    for (const NodeList ranges : {end_->src().subspan(1), sum()->src().subspan(1)})
      for (const Node* range : ranges) count *= static_cast<double>(size_in(way, range));
    return count;
  }

  // How the loops that a factor changes with lie in what is packed: rows of it inside.
  std::vector<std::string> packed(const Way& way, const Node* load, const std::string& own,
                                  bool is_column) const {
    std::vector<std::string> order{own};
    for (const NamedLoop& loop : loops_.names())
      if (is_among(sum()->src().subspan(1), loop.range) && changes_with(load, loop.range))
        order.push_back(loop.name);
    const std::string part = way.depth + ".1", group = way.depth + ".2";
    if (is_column)
      order.insert(order.end(), {part, own + ".1", group});
    else
      order.insert(order.end(), {own + ".1", part, group});
    return order;
  }

  double bytes_of(const Node* load, const Way& way) const {
    return elements_of(load, way) * static_cast<double>(load->dtype().bytes());
  }

  // As many blocks of columns as fit beside one of rows into a part of the scratch memory: what is packed of them is read
  // by all rows, and each block of these by all of them, while it is near.
  std::int64_t blocks_together(const Way& way, double bytes) const {
    const auto blocks = static_cast<std::int64_t>(trips_of(way, way.column));
    const double room = static_cast<double>(target_.scratch_bytes) * most_scratch;
    std::int64_t best = 0;
    for (std::int64_t count = 1; count <= blocks; ++count)
      if (blocks % count == 0 && static_cast<double>(count) * bytes <= room) best = count;
    return best;
  }

  // What is chosen so far, and the cycles that it takes.
  struct Draft {
    Schedule actions;
    double cycles = 0;
  };

  std::optional<MmaSchedule> schedule(const Way& way) const {
    const auto a = factor(way.row_range), b = factor(way.column_range);
    if (!a || !b) return std::nullopt;
    const std::int64_t together = blocks_together(way, bytes_of(b->load, way));
    if (together == 0) return std::nullopt;
    Draft draft = tiles(way, together);
    const Action order = order_of(way);
    draft.actions.push_back(order);
    pack_columns(way, *b, draft);
    if (needs_packing(way, a->load)) {
      if (bytes_of(a->load, way) > static_cast<double>(target_.scratch_bytes) / 4)
        return std::nullopt;
      pack_rows(way, *a, together, draft);
    }
    return shared(std::move(draft), way, order.loops[0]);
  }

  Draft tiles(const Way& way, std::int64_t together) const {
    const std::int64_t columns = block_of(way, way.column_range, way.shape.columns);
    Draft draft{{},
                trips(way) /
                    static_cast<double>(way.shape.rows * way.shape.columns * way.shape.depth) *
                    cycles_of_product * stalls};
    const auto add = [&](Action action) { draft.actions.push_back(std::move(action)); };
    const std::tuple<std::string, const Node*, std::int64_t> loops[] = {
        {way.row, way.row_range, way.shape.rows},
        {way.column, way.column_range, way.shape.columns},
        {way.depth, way.depth_range, way.shape.depth}};
    for (const auto& [name, range, count] : loops)
      if (size_of(range) % count != 0)
        add({.type = Action::Pad, .name = name, .count = count, .tail = Tail::Mask});
    add({.type = Action::Tile,
         .name = way.row,
         .count = block_of(way, way.row_range, way.shape.rows)});
    add({.type = Action::Tile, .name = way.column, .count = columns * together});
    add({.type = Action::Tile, .name = way.column + ".1", .count = columns});
    add({.type = Action::Mma,
         .name = way.depth,
         .loops = {way.row + ".1", way.column + ".2"},
         .at = std::string(way.shape.name)});
    return draft;
  }

  // Other loops of the output around those of the tiles.
  Action order_of(const Way& way) const {
    Action order{.type = Action::Order, .name = {}};
    for (const NamedLoop& loop : loops_.names())
      if (is_among(end_->src().subspan(1), loop.range) && loop.range != way.row_range &&
          loop.range != way.column_range)
        order.loops.push_back(loop.name);
    order.loops.insert(order.loops.end(),
                       {way.column, way.row, way.column + ".1", way.row + ".1", way.column + ".2"});
    return order;
  }

  // Of the blocks of all loops of the output.
  double blocks(const Way& way) const {
    double count = 1;
    for (const NamedLoop& loop : loops_.names())
      if (is_among(end_->src().subspan(1), loop.range)) count *= trips_of(way, loop.name);
    return count;
  }

  void pack_columns(const Way& way, const Factor& b, Draft& draft) const {
    Action pack{.type = Action::Stage, .name = b.name, .at = way.column};
    pack.loops = packed(way, b.load, "b1", true);
    pack.loops.insert(pack.loops.begin(), way.column + ".1");
    draft.actions.push_back(pack);
    draft.cycles += elements_of(b.load, way) * blocks(way) / trips_of(way, way.row) *
                    (stride_of(b.load, way.column_range) == 1 ? cycles_to_pack : cycles_to_turn);
  }

  static bool needs_packing(const Way& way, const Node* a) {
    return size_in(way, way.row_range) != size_of(way.row_range) ||
           size_in(way, way.depth_range) != size_of(way.depth_range) ||
           stride_of(a, way.depth_range) != 1 || !a->src(0)->src(1)->is_const_int(1) ||
           meets_itself(a, way);
  }

  void pack_rows(const Way& way, const Factor& a, std::int64_t together, Draft& draft) const {
    draft.actions.push_back({.type = Action::Stage,
                             .name = a.name,
                             .loops = packed(way, a.load, "b0", false),
                             .at = way.row});
    draft.cycles += elements_of(a.load, way) * blocks(way) / static_cast<double>(together) *
                    (stride_of(a.load, way.depth_range) == 1 ? cycles_to_pack : cycles_to_turn);
  }

  // Among threads, by the outermost loop.
  MmaSchedule shared(Draft draft, const Way& way, const std::string& outermost) const {
    double seconds = draft.cycles / target_.machine.hertz;
    if (target_.machine.workers > 1 && seconds > worth_threads && trips_of(way, outermost) > 1) {
      draft.actions.push_back({.type = Action::Kind, .name = outermost, .kind = LoopKind::Thread});
      seconds = seconds / target_.machine.workers + target_.machine.launch;
    }
    return {std::move(draft.actions), seconds};
  }

  // Whether the rows of a tile lie in few sets of a cache.
  static bool meets_itself(const Node* load, const Way& way) {
    const std::int64_t apart =
        stride_of(load, way.row_range) * static_cast<std::int64_t>(load->dtype().bytes());
    return apart % bytes_of_way == 0;
  }

  // Of a loop around the tiles.
  double trips_of(const Way& way, const std::string& name) const {
    for (const NamedLoop& loop : loops_.names())
      if (loop.name == name) {
        const std::int64_t tile =
            loop.range == way.row_range      ? block_of(way, loop.range, way.shape.rows)
            : loop.range == way.column_range ? block_of(way, loop.range, way.shape.columns)
                                             : 1;
        const std::int64_t trips = size_in(way, loop.range) / tile;
        return static_cast<double>(trips);
      }
    return 1;
  }

  const Target& target_;
  KernelLoops loops_;
  const Node* end_;
  std::vector<const Node*> sums_;
};

}  // namespace

std::optional<MmaSchedule> mma_schedule(const Node* kernel, const Target& target) {
  if (target.mma.empty() || kernel->size() != 1 || kernel->src(0)->op() != Op::End)
    return std::nullopt;
  return MmaSchedules(kernel, target).best();
}

}  // namespace weft
