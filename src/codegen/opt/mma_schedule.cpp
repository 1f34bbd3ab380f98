#include "mma_schedule.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <weft/dev/codegen/slice.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/ir/memory.h>

#include "kernel_loops.h"
#include "mma.h"
#include "mma_block.h"
#include "share.h"
#include "stores.h"

namespace weft {
namespace {

constexpr double most_scratch = 0.5;                           // for what is packed of columns
constexpr std::int64_t bytes_of_way = 4096, lines_of_set = 4;  // of a cache, which others share
constexpr double cycles_to_finish = 12, cycles_apart = 3;      // for a vector of sums, or one
constexpr double cycles_to_pack = 0.5, cycles_to_turn = 2;     // for each element

std::int64_t size_of(const Node* range) {
  return range->src(0)->is_const() ? range->src(0)->lo() : 0;
}

// Of a load or a store: elements between one trip and the next; 0 where it is not always as many.
std::int64_t stride_of(const Node* access, const Node* range) {
  const Node *place = access->src(0), *storage = storage_of(place->src(0));
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

// What is written once is packed once.
bool is_constant(const Node* load) {
  const Node* storage = storage_of(load->src(0)->src(0));
  const std::vector<const Node*> nodes = toposort(load->src(0));
  return storage->op() == Op::Param && storage->arg<ParamArg>().access == Access::Constant &&
         std::ranges::none_of(nodes, [](auto node) { return node->op() == Op::Load; });
}

// A read of the kernel's, which is multiplied.
struct Factor {
  std::string name;
  const Node* load = nullptr;
};

// What is chosen: the loops of an instruction, and the block of sums in registers.
struct Way {
  MmaShape shape;
  MmaBlock block;
  Factor a, b;  // of rows and of columns
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
            Way way{shape,       {},         {},        {},           row.name,
                    column.name, depth.name, row.range, column.range, depth.range};
            if (!is_possible(way)) continue;
            way.block = block_for(shape, size_of(row.range), size_of(column.range));
            way.a = factor(row.range);
            way.b = factor(column.range);
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

  // Trips of a loop, with those that fill up its last block.
  static std::int64_t padded(const Node* range, std::int64_t tile) {
    return (size_of(range) + tile - 1) / tile * tile;
  }
  static std::int64_t size_in(const Way& way, const Node* range) {
    if (range == way.row_range) return padded(range, way.block.rows);
    if (range == way.column_range) return padded(range, way.block.columns);
    return range == way.depth_range ? padded(range, way.shape.depth) : size_of(range);
  }

  const Node* range_of(const std::string& name) const {
    for (const NamedLoop& loop : loops_.names())
      if (loop.name == name) return loop.range;
    return nullptr;
  }

  Factor factor(const Node* changing) const {
    for (const auto& [name, load] : loops_.reads())
      if (changes_with(load, changing) && depends_on(sum()->src(0), load)) return {name, load};
    return {};
  }

  // Of the reduction, in all loops of the sum.
  double elements_of(const Node* load, const Way& way) const {
    double count = 1;
    for (const Node* range : sum()->src().subspan(1))
      if (changes_with(load, range)) count *= static_cast<double>(size_in(way, range));
    return count * static_cast<double>(changes_with(load, way.column_range) ? way.block.columns
                                                                            : way.block.rows);
  }

  double trips(const Way& way) const {
    double count = 1;
    for (const NodeList ranges : {end_->src().subspan(1), sum()->src().subspan(1)})
      for (const Node* range : ranges) count *= static_cast<double>(size_in(way, range));
    return count;
  }

  // Along the depth last.
  std::vector<std::string> sum_loops(const Way& way) const {
    std::vector<std::string> names;
    for (const NamedLoop& loop : loops_.names())
      if (is_among(sum()->src().subspan(1), loop.range) && loop.name != way.depth)
        names.push_back(loop.name);
    names.push_back(way.depth);
    return names;
  }

  // What follows the sums, which goes along what it stores.
  double cycles_behind(const Way& way) const {
    double elements = 1, cycles = 0;
    for (const Node* range : end_->src().subspan(1))
      elements *= static_cast<double>(size_in(way, range));
    for (const Node* store : stores_of(end_)) {
      const bool is_run = store->op() == Op::Store && stride_of(store, way.column_range) == 1;
      cycles += is_run ? 4 * cycles_to_finish / target_.machine.vector_bytes : cycles_apart;
    }
    return elements * cycles;
  }

  // How the loops that a factor changes with lie in what is packed: fragments of it inside, those of a block side by side,
  // but for rows that are copied.
  std::vector<std::string> packed(const Way& way, const Node* load, const std::string& own,
                                  bool is_column) const {
    std::vector<std::string> order;
    for (const std::string& name : sum_loops(way))
      if (changes_with(load, range_of(name))) order.push_back(name);
    order.insert(is_column || is_constant(load) ? order.end() : order.begin(), own);
    const bool has_parts = way.shape.depth > way.shape.group;
    std::vector<std::string> inside;
    if (has_parts) inside.push_back(way.depth + ".1");
    if (is_column || way.shape.rows > 1)
      inside.insert(is_column ? inside.end() : inside.begin(), own + ".1");
    inside.push_back(way.depth + (has_parts ? ".2" : ".1"));
    order.insert(order.end(), inside.begin(), inside.end());
    return order;
  }

  // Before the kernel runs, in all loops of the output that it changes with.
  Action packed_once(const Way& way, const Factor& factor, const std::string& own,
                     bool is_column) const {
    Action pack{.type = Action::Stage, .name = factor.name, .space = Space::Constant};
    for (const std::string& name : order_of(way).loops)
      if (name != way.row + ".1" && name != way.column + ".2" &&
          changes_with(factor.load, range_of(name.substr(0, name.find('.')))))
        pack.loops.push_back(name);
    const std::vector<std::string> inside = packed(way, factor.load, own, is_column);
    pack.loops.insert(pack.loops.end(), inside.begin(), inside.end());
    return pack;
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
    if (way.a.load == nullptr || way.b.load == nullptr) return std::nullopt;
    std::int64_t together = blocks_together(way, bytes_of(way.b.load, way));
    if (together == 0 && !is_constant(way.b.load)) return std::nullopt;
    together = std::max<std::int64_t>(together, 1);
    Draft draft = tiles(way, together);
    const Action order = order_of(way);
    draft.actions.push_back(order);
    if (sum()->size() > 2)
      draft.actions.push_back({.type = Action::Order, .name = {}, .loops = sum_loops(way)});
    if (is_constant(way.b.load))
      draft.actions.push_back(packed_once(way, way.b, "b1", true));
    else
      pack_columns(way, way.b, draft);
    if (is_constant(way.a.load)) {
      draft.actions.push_back(packed_once(way, way.a, "b0", false));
    } else if (is_in_region(way)) {
      if (!keep_region(way, draft)) return std::nullopt;
    } else if (needs_packing(way, way.a.load)) {
      if (bytes_of(way.a.load, way) > static_cast<double>(target_.scratch_bytes) / 4)
        return std::nullopt;
      pack_rows(way, way.a, together, draft);
    }
    return shared(std::move(draft), way, order.loops[0]);
  }

  Draft tiles(const Way& way, std::int64_t together) const {
    const auto& [rows, columns] = way.block;
    Draft draft{{},
                trips(way) / static_cast<double>(rows * columns * way.shape.depth) *
                        cycles_of(way.shape, way.block, target_.machine) +
                    cycles_behind(way)};
    const auto add = [&](Action action) { draft.actions.push_back(std::move(action)); };
    const std::tuple<std::string, const Node*, std::int64_t> loops[] = {
        {way.row, way.row_range, rows},
        {way.column, way.column_range, columns},
        {way.depth, way.depth_range, way.shape.depth}};
    for (const auto& [name, range, count] : loops)
      if (size_of(range) % count != 0 && (range != way.row_range || !shifts(way)))
        add({.type = Action::Pad, .name = name, .count = count, .tail = Tail::Mask});
    add({.type = Action::Tile,
         .name = way.row,
         .count = rows,
         .tail = size_of(way.row_range) % rows != 0 && shifts(way) ? Tail::Shift : Tail::None});
    add({.type = Action::Tile, .name = way.column, .count = columns * together});
    add({.type = Action::Tile, .name = way.column + ".1", .count = columns});
    add({.type = Action::Mma,
         .name = way.depth,
         .loops = {way.row + ".1", way.column + ".2"},
         .at = std::string(way.shape.name)});
    return draft;
  }

  // Other loops of the output around those of the tiles; what is read of columns serves all that do not change it, unless
  // threads share these.
  Action order_of(const Way& way) const {
    std::vector<std::string> around, inside;
    for (const NamedLoop& loop : loops_.names()) {
      if (!is_among(end_->src().subspan(1), loop.range) || loop.range == way.row_range ||
          loop.range == way.column_range)
        continue;
      const bool is_around = target_.machine.workers > 1 || changes_with(way.b.load, loop.range);
      (is_around ? around : inside).push_back(loop.name);
    }
    Action order{.type = Action::Order, .name = {}, .loops = around};
    order.loops.push_back(way.column);
    order.loops.insert(order.loops.end(), inside.begin(), inside.end());
    order.loops.insert(order.loops.end(),
                       {way.row, way.column + ".1", way.row + ".1", way.column + ".2"});
    return order;
  }

  // Of the blocks of all loops of the output.
  double blocks(const Way& way) const {
    double count = 1;
    for (const NamedLoop& loop : loops_.names())
      if (is_among(end_->src().subspan(1), loop.range)) count *= trips_of(way, loop.name);
    return count;
  }

  // Of the blocks of the loops inside of that of columns.
  double blocks_inside(const Way& way) const {
    const std::vector<std::string> loops = order_of(way).loops;
    double count = 1;
    for (auto at = std::ranges::find(loops, way.column) + 1; *at != way.column + ".1"; ++at)
      count *= trips_of(way, *at);
    return count;
  }

  void pack_columns(const Way& way, const Factor& b, Draft& draft) const {
    Action pack{.type = Action::Stage, .name = b.name, .at = way.column};
    pack.loops = packed(way, b.load, "b1", true);
    pack.loops.insert(pack.loops.begin(), way.column + ".1");
    draft.actions.push_back(pack);
    draft.cycles += elements_of(b.load, way) * blocks(way) / blocks_inside(way) *
                    (stride_of(b.load, way.column_range) == 1 ? cycles_to_pack : cycles_to_turn);
  }

  // The last block of rows begins so early that it fits, where these are vectors.
  bool shifts(const Way& way) const { return way.shape.rows == 1 && may_store_twice(end_); }

  bool has_more_rows(const Way& way) const {
    return size_in(way, way.row_range) != size_of(way.row_range) && !shifts(way);
  }

  bool needs_packing(const Way& way, const Node* a) const {
    return has_more_rows(way) || size_in(way, way.depth_range) != size_of(way.depth_range) ||
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

  // Windows that padding surrounds: rows of a region that has it are runs.
  bool is_in_region(const Way& way) const {
    const Node* place = way.a.load->src(0);
    return way.shape.rows == 1 && !has_more_rows(way) &&
           size_in(way, way.depth_range) == size_of(way.depth_range) &&
           stride_of(way.a.load, way.depth_range) == 1 && place->src(1)->op() != Op::Const;
  }

  // In the innermost loop around the rows that it changes with; whether there is room.
  bool keep_region(const Way& way, Draft& draft) const {
    const std::vector<std::string> loops = order_of(way).loops;
    std::string at = way.row;
    Substitution around;
    double times = 1;
    for (const std::string& name : loops) {
      if (name == way.row) break;
      if (name != way.column && changes_with(way.a.load, range_of(name))) at = name;
    }
    for (const std::string& name : loops) {
      if (range_of(name) == nullptr) break;
      times *= trips_of(way, name);
      if (name != way.column && name != way.row) around.emplace(range_of(name), const_int(0));
      if (name == at) break;
    }
    double elements = 1;
    for (const Node* index : way.a.load->src(0)->src().subspan(2)) {
      const auto bounds = substitute(UOp(index), around)->bounds();
      elements *= static_cast<double>(bounds.hi - bounds.lo + 1);
    }
    if (elements > static_cast<double>(target_.scratch_bytes) / 4) return false;
    draft.actions.push_back(
        {.type = Action::Stage, .name = way.a.name, .at = at, .by_region = true});
    draft.cycles += elements * times * cycles_to_pack;
    return true;
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

  // Whether the rows of a block lie in few sets of a cache.
  static bool meets_itself(const Node* load, const Way& way) {
    const std::int64_t apart =
        stride_of(load, way.row_range) * static_cast<std::int64_t>(load->dtype().bytes());
    const std::int64_t sets =
        bytes_of_way / std::gcd(std::max<std::int64_t>(apart, 1), bytes_of_way);
    return way.block.rows > lines_of_set * sets;
  }

  // Of a loop around the tiles.
  double trips_of(const Way& way, const std::string& name) const {
    for (const NamedLoop& loop : loops_.names())
      if (loop.name == name) {
        const std::int64_t tile = loop.range == way.row_range      ? way.block.rows
                                  : loop.range == way.column_range ? way.block.columns
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
