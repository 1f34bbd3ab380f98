#include "mma_schedule.h"

#include <algorithm>
#include <string>
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
constexpr double stalls = 1.5;  // of what tiles are read, which caches bring in
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
           is_whole(way.row_range, way.shape.rows) &&
           is_whole(way.column_range, way.shape.columns) &&
           is_whole(way.depth_range, way.shape.depth) &&
           is_product_for(sum(), way.shape, way.row_range, way.column_range);
  }

  static bool is_whole(const Node* range, std::int64_t by) {
    return size_of(range) > 0 && size_of(range) % by == 0;
  }

  // Two tiles where they divide the loop.
  static std::int64_t block_of(const Node* range, std::int64_t tile) {
    return size_of(range) % (2 * tile) == 0 ? 2 * tile : tile;
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
      if (changes_with(load, range)) count *= static_cast<double>(size_of(range));
    return count * static_cast<double>(changes_with(load, way.column_range)
                                           ? block_of(way.column_range, way.shape.columns)
                                           : block_of(way.row_range, way.shape.rows));
  }

  double trips() const {
    double count = 1;
    for (const Node* range : end_->src().subspan(1)) count *= static_cast<double>(size_of(range));
    for (const Node* range : sum()->src().subspan(1)) count *= static_cast<double>(size_of(range));
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

  std::optional<MmaSchedule> schedule(const Way& way) const {
    const auto a = factor(way.row_range), b = factor(way.column_range);
    if (!a || !b) return std::nullopt;
    const std::int64_t rows = block_of(way.row_range, way.shape.rows),
                       columns = block_of(way.column_range, way.shape.columns),
                       together = blocks_together(way, bytes_of(b->load, way));
    if (together == 0) return std::nullopt;
    Schedule actions{
        {.type = Action::Tile, .name = way.row, .count = rows},
        {.type = Action::Tile, .name = way.column, .count = columns * together},
        {.type = Action::Tile, .name = way.column + ".1", .count = columns},
        {.type = Action::Mma,
         .name = way.depth,
         .loops = {way.row + ".1", way.column + ".2"},
         .at = std::string(way.shape.name)}};
    Action order{.type = Action::Order, .name = {}};
    double around = 1;
    for (const NamedLoop& loop : loops_.names()) {
      if (!is_among(end_->src().subspan(1), loop.range)) continue;
      around *= trips_of(way, loop.name);
      if (loop.range != way.row_range && loop.range != way.column_range)
        order.loops.push_back(loop.name);
    }
    order.loops.insert(order.loops.end(), {way.column, way.row, way.column + ".1", way.row + ".1",
                                           way.column + ".2"});
    actions.push_back(order);
    double cycles = trips() /
                    static_cast<double>(way.shape.rows * way.shape.columns * way.shape.depth) *
                    cycles_of_product * stalls;
    Action pack{.type = Action::Stage, .name = b->name, .at = way.column};
    pack.loops = packed(way, b->load, "b1", true);
    pack.loops.insert(pack.loops.begin(), way.column + ".1");
    actions.push_back(pack);
    cycles += elements_of(b->load, way) * around / trips_of(way, way.row) *
              (stride_of(b->load, way.column_range) == 1 ? cycles_to_pack : cycles_to_turn);
    if (const bool is_row = stride_of(a->load, way.depth_range) == 1;
        !is_row || !a->load->src(0)->src(1)->is_const_int(1) || meets_itself(a->load, way)) {
      actions.push_back({.type = Action::Stage,
                         .name = a->name,
                         .loops = packed(way, a->load, "b0", false),
                         .at = way.row});
      cycles += elements_of(a->load, way) * around / trips_of(way, way.column) *
                trips_of(way, way.column) / static_cast<double>(together) *
                (is_row ? cycles_to_pack : cycles_to_turn);
      if (bytes_of(a->load, way) > static_cast<double>(target_.scratch_bytes) / 4)
        return std::nullopt;
    }
    double seconds = cycles / target_.machine.hertz;
    if (target_.machine.workers > 1 && seconds > worth_threads && trips_of(way, order.loops[0]) > 1) {
      actions.push_back({.type = Action::Kind, .name = order.loops[0], .kind = LoopKind::Thread});
      seconds = seconds / target_.machine.workers + target_.machine.launch;
    }
    return MmaSchedule{std::move(actions), seconds};
  }

  // Whether the rows of a tile lie in few sets of a cache.
  static bool meets_itself(const Node* load, const Way& way) {
    const std::int64_t apart = stride_of(load, way.row_range) *
                               static_cast<std::int64_t>(load->dtype().bytes());
    return apart % bytes_of_way == 0;
  }

  // Of a loop around the tiles.
  double trips_of(const Way& way, const std::string& name) const {
    for (const NamedLoop& loop : loops_.names())
      if (loop.name == name) {
        const std::int64_t tile = loop.range == way.row_range ? block_of(loop.range, way.shape.rows)
                                  : loop.range == way.column_range
                                      ? block_of(loop.range, way.shape.columns)
                                      : 1;
        return static_cast<double>(size_of(loop.range) / tile);
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
